package wordsearch_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// talk makes events of about so many bytes, with words as often as in real texts: a few of them everywhere, most of
// them seldom, and as many as there are in real texts.
func talk(events, size int) []*session.Event {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, uint64(events*6/10))
	var texts []string
	var b strings.Builder
	for range events {
		b.Reset()
		for b.Len() < size {
			b.WriteString(word(zipf.Uint64()))
			b.WriteByte(' ')
		}
		texts = append(texts, b.String())
	}
	out := said(texts...)
	for i, ev := range out {
		if i%2 > 0 {
			ev.Author = "agent"
		}
		ev.Timestamp = ev.Timestamp.Add(time.Duration(i/40) * 12 * time.Hour)
	}
	return out
}

// word is the word of that number.
func word(n uint64) string {
	const syllables = "babedidofugakelimonupyratesivoxuzawerijopu"
	var b []byte
	for n += 30; n > 0; n /= uint64(len(syllables) / 2) {
		at := n % uint64(len(syllables)/2) * 2
		b = append(b, syllables[at:at+2]...)
	}
	return string(b)
}

// questions are n questions of words that events have.
func questions(n int, events []*session.Event) []string {
	random := rand.New(rand.NewPCG(3, 4))
	var out []string
	for range n {
		words := strings.Fields(events[random.IntN(len(events))].Content.Parts[0].Text)
		from := random.IntN(max(1, len(words)-6))
		out = append(out, strings.Join(words[from:min(len(words), from+6)], " "))
	}
	return out
}

func BenchmarkMemory(b *testing.B) {
	const events = 100_000
	all := talk(events, 400)
	asked := questions(200, all)
	before := heap()
	m := wordsearch.NewMemory(1 << 30)
	began := time.Now()
	search(m, key("s"), all, index.Query{Text: asked[0]})
	build := time.Since(began)
	size := heap() - before
	b.Run("search", func(b *testing.B) {
		b.ReportAllocs()
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			began := time.Now()
			search(m, key("s"), all, index.Query{Text: asked[i%len(asked)]})
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*9/10].Microseconds()), "p90-us")
		b.ReportMetric(float64(build.Microseconds())/events, "build-us/event")
		b.ReportMetric(float64(size)/events, "B/event")
	})
	runtime.KeepAlive(all)
	runtime.KeepAlive(m)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestMemoryKnowsHowMuchItTakesUp is not parallel, because it measures the heap.
func TestMemoryKnowsHowMuchItTakesUp(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector's own allocations are in the heap")
	}
	const events = 10_000
	all := talk(events, 400)
	before := heap()
	m := wordsearch.NewMemory(1 << 30)
	search(m, key("s"), all, index.Query{Text: "anything"})
	taken := heap() - before
	runtime.KeepAlive(all)
	if share := float64(m.Bytes()) / float64(taken); share < 0.85 || share > 1.25 {
		t.Errorf("by its own account it takes up %d bytes, and the heap has grown by %d", m.Bytes(), taken)
	}
	if taken > 500*events {
		t.Errorf("an event takes up %d bytes", taken/events)
	}
}
