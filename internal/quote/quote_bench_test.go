package quote_test

import (
	"strings"
	"testing"
)

func BenchmarkUnframe(b *testing.B) {
	for name, text := range map[string]string{
		"plain":    strings.Repeat("The order A-1041 is in transit; it arrives on 12 March (if all goes well). ", 200),
		"chinese":  strings.Repeat("订单已经发货，预计三月十二日到达（如果一切顺利）。", 200),
		"brackets": strings.Repeat("a[0] = b[12], and [link](https://example.com) is a link. ", 200),
		"signs":    strings.Repeat("[|", 8_000),
		"nested":   strings.Repeat("[", 16_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if unframe(text, openings...) != text {
					b.Fatal("changed")
				}
			}
		})
	}
}
