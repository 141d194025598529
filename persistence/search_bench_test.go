package persistence_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// talk returns messages of 12 to 60 words, which are as frequent as words of a language are after the most common ones.
func talk(n int) func() string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	words := rand.NewZipf(random, 1.07, 40, 30_000)
	return func() string {
		var b strings.Builder
		for range 12 + random.IntN(49) {
			fmt.Fprintf(&b, "%s ", spelled(words.Uint64()))
		}
		return b.String()
	}
}

// spelled returns a word for a number.
func spelled(n uint64) string {
	const consonants, vowels = "bdfgklmnprtvz", "aou"
	word := ""
	for n += 40; n > 0; n /= 39 {
		word += string(consonants[n%39/3]) + string(vowels[n%3])
	}
	return word + "k"
}

// BenchmarkSearch measures one session of many events: appending with and without an index, indexing, and queries of one to
// eight words.
func BenchmarkSearch(b *testing.B) {
	events := 20_000
	if os.Getenv("LONGSESSION_SOAK") != "" {
		events = 100_000
	}
	path := filepath.Join(b.TempDir(), "sessions.db")
	s := open(b, path, persistence.WithSynchronousNormal())
	sess := create(b, s, "s")
	say := talk(0)
	bare := time.Now()
	for n := range events {
		ev := text(fmt.Sprint(n), say())
		ev.Timestamp = time.Unix(1_700_000_000+int64(n)*60, 0)
		appendTo(b, s, sess, ev)
	}
	b.Logf("append: %v an event", time.Since(bare)/time.Duration(events))
	before := fileSize(b, path)
	began := time.Now()
	if _, err := s.SearchText(b.Context(), request("s"), index.Query{Text: "x"}); err != nil {
		b.Fatal(err)
	}
	b.Logf("index: %v an event, the file grew from %d to %d bytes", time.Since(began)/time.Duration(events), before, fileSize(b, path))
	random := rand.New(rand.NewPCG(3, 4))
	var took []time.Duration
	for b.Loop() {
		words := strings.Fields(say())[:1+random.IntN(8)]
		began := time.Now()
		if _, err := s.SearchText(b.Context(), request("s"), index.Query{Text: strings.Join(words, " "), Around: 1}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*9/10].Microseconds())/1000, "p90-ms")
	b.StopTimer()

	other := create(b, s, "other")
	done := make(chan error, 1)
	began = time.Now()
	go func() {
		done <- s.Delete(b.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"})
	}()
	var waited []time.Duration
	for n := 0; ; n++ {
		one := time.Now()
		appendTo(b, s, other, text(fmt.Sprint(n), "hello"))
		waited = append(waited, time.Since(one))
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
			slices.Sort(waited)
			b.Logf("delete: %v; %d appends meanwhile, p50 %v, p99 %v, longest %v", time.Since(began), len(waited), waited[len(waited)/2], waited[len(waited)*99/100], waited[len(waited)-1])
			return
		default:
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func fileSize(t testing.TB, path string) (size int64) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size
}
