package replay_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// BenchmarkRealSessions plays files of real conversations on all cores, as the command does. It
// reports events per second: those stored with compaction, and those played by the runner in both
// runs.
func BenchmarkRealSessions(b *testing.B) {
	folder := os.Getenv("LONGSESSION_DATA")
	if folder == "" {
		b.Skip("LONGSESSION_DATA is not set: no real conversations")
	}
	for _, file := range []string{"coding_agent_sessions.jsonl", "tau_airline_gpt4o.jsonl"} {
		b.Run(file, func(b *testing.B) {
			var stored, played atomic.Int64
			for b.Loop() {
				f, err := os.Open(filepath.Join(folder, file))
				if err != nil {
					b.Fatal(err)
				}
				r := conversation.NewReader(f, file)
				group, ctx := errgroup.WithContext(b.Context())
				group.SetLimit(runtime.GOMAXPROCS(0))
				for c, err := r.Next(); err == nil; c, err = r.Next() {
					group.Go(func() error {
						report, err := replay.Play(ctx, c, policy(32_000), replay.Options{Fixed: replay.FixedAuto})
						if err == nil {
							stored.Add(int64(report.Events))
							played.Add(int64(report.Events + report.Messages))
						}
						return err
					})
				}
				if err := group.Wait(); err != nil {
					b.Fatal(err)
				}
				_ = f.Close() // opened only for reading
			}
			b.ReportMetric(float64(stored.Load())/b.Elapsed().Seconds(), "stored/s")
			b.ReportMetric(float64(played.Load())/b.Elapsed().Seconds(), "played/s")
		})
	}
}
