package selector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/selector"
)

// benchmarkHistory has 10,000 visible events and no summary: far more than a view should ever have.
func benchmarkHistory() selector.Input {
	var words strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&words, "%dq %dc:x%d %dr:x%d %da ", i, i, i, i, i, i)
	}
	return newTape(script(words.String())).history()
}

func BenchmarkInvocations(b *testing.B) {
	h, p := benchmarkHistory(), defaults()
	b.ReportAllocs()
	for b.Loop() {
		if sel := selector.Invocations(h, p, ""); len(sel.Events) != 4*(2500-p.Overlap) {
			b.Fatal(shown(sel))
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	h, p := benchmarkHistory(), defaults()
	p.Retain = 10
	b.ReportAllocs()
	for b.Loop() {
		if sel := selector.Tokens(h, p, ""); len(sel.Events) < 9000 {
			b.Fatal(shown(sel))
		}
	}
}
