package toolresult_test

import (
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// BenchmarkApply masks a request of 200 results of 4 KB, as a running session sends it: the request
// before was nearly the same.
func BenchmarkApply(b *testing.B) {
	long := rounds()
	for n := range 200 {
		addRound(long, n, page(n, 920)) // 4 KB
	}
	for _, r := range []struct {
		name string
		cfg  toolresult.Masking
		room toolresult.Room
	}{
		{"nothing masked", toolresult.Masking{}, toolresult.Room{Effective: 10_000_000}},
		{"masked", toolresult.Masking{}, toolresult.Room{Effective: 128_000}},
	} {
		b.Run(r.name, func(b *testing.B) {
			m := newMasker(b, r.cfg)
			var masked toolresult.Masked
			requests := make([]*model.LLMRequest, 64)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%len(requests) == 0 {
					b.StopTimer()
					for j := range requests {
						requests[j] = copyOf(long, len(long.Contents))
					}
					b.StartTimer()
				}
				masked = m.Apply(requests[i%len(requests)], r.room, nil)
			}
			b.ReportMetric(float64(masked.Results), "masked/op")
		})
	}
}
