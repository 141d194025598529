package databases_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// BenchmarkAppendThatStoresARecord compares the append of a user's message that also stores a
// waiting record with an append that does not. It alternates both in one session. One operation is
// two turns, one of each kind. It reports the medians and their ratio.
func BenchmarkAppendThatStoresARecord(b *testing.B) {
	for _, setup := range []sqliteSetup{{"sqlite3", "WAL", 5000}, {"sqlite", "WAL", 5000}} {
		b.Run(setup.String(), func(b *testing.B) {
			if setup.driver == "sqlite3" && !hasCgo {
				b.Skip("mattn's driver needs cgo, and this build has none")
			}
			benchmarkAppend(b, setup.open(b, filepath.Join(b.TempDir(), "sessions.db")))
		})
	}
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		b.Run(e.name, func(b *testing.B) { benchmarkAppend(b, newStore(b, e).sessions) })
	}
}

func benchmarkAppend(b *testing.B, inner session.Service) {
	ctx := context.Background()
	// Summaries are never merged, so an append stores one record at most.
	a, err := newApp(inner, false, func(cfg *compaction.Config) { cfg.MaxSummaries = 1000 })
	if err != nil {
		b.Fatal(err)
	}
	var plain, storing []time.Duration
	id := ""
	for i := range 2 * b.N {
		if i%turnsPerSession == 0 {
			id = fmt.Sprintf("%d-%d", b.N, i)
			createSession(ctx, b, inner, id)
		}
		resp, err := a.sessions.Get(ctx, &session.GetRequest{AppName: appName, UserID: userID, SessionID: id})
		if err != nil {
			b.Fatal(err)
		}
		stored := a.seen.of(compaction.Stored)
		took := timedAppend(b, a, resp.Session, spoken(i, "user", genai.RoleUser))
		if a.seen.of(compaction.Stored) > stored {
			storing = append(storing, took)
		} else {
			plain = append(plain, took)
		}
		timedAppend(b, a, resp.Session, spoken(i, agentName, genai.RoleModel))
		awaitJobs(ctx, b, a, id)
	}
	if len(storing) == 0 {
		return // the first round of a benchmark has only two turns
	}
	b.ReportMetric(median(plain).Seconds()*1e6, "us/plain")
	b.ReportMetric(median(storing).Seconds()*1e6, "us/storing")
	b.ReportMetric(float64(median(storing))/float64(median(plain)), "storing/plain")
	b.ReportMetric(0, "ns/op")
}

// spoken returns an event of turn i.
func spoken(i int, author string, role genai.Role) *session.Event {
	ev := session.NewEventWithContext(context.Background(), fmt.Sprint("turn ", i))
	ev.Author = author
	ev.Content = genai.NewContentFromText("Where is the parcel that was sent on Monday, and what does it cost to send it back to where it came from?", role)
	return ev
}

func timedAppend(b *testing.B, a *app, sess session.Session, ev *session.Event) time.Duration {
	b.Helper()
	began := time.Now()
	if err := a.sessions.AppendEvent(context.Background(), sess, ev); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// awaitJobs waits until no job is running for the session. A record then waits for the next append.
func awaitJobs(ctx context.Context, b *testing.B, a *app, id string) {
	b.Helper()
	for {
		status, err := a.compacting.Status(ctx, refTo(id))
		if err != nil {
			b.Fatal(err)
		}
		if !status.Running {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}
