package persistence

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// BenchmarkAppendDigests measures the cost of digests. It appends to one file alternately with and
// without digests, and reports the ratio of the medians.
func BenchmarkAppendDigests(b *testing.B) {
	for mode, opts := range map[string][]Option{"FULL": nil, "NORMAL": {WithSynchronousNormal()}} {
		for _, words := range []int{20, 400} {
			b.Run(fmt.Sprintf("%s/words=%d", mode, words), func(b *testing.B) { compareDigests(b, opts, words) })
		}
	}
}

func compareDigests(b *testing.B, opts []Option, words int) {
	ctx := context.Background()
	s, err := NewSQLiteSessionService(b.TempDir()+"/bench.db", opts...)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var handles [2]*storedSession
	for i := range handles {
		resp, err := s.Create(ctx, &session.CreateRequest{AppName: "a", UserID: "u", SessionID: fmt.Sprint(i)})
		if err != nil {
			b.Fatal(err)
		}
		handles[i] = handleOf(resp.Session)
	}
	// Periodic work every few hundred writes would always hit the same kind of append.
	if err := s.submit(ctx, &write{run: func(w *writer) error { w.keepsLog = false; return nil }}); err != nil {
		b.Fatal(err)
	}
	// Without digests the statements are the same, with NULL for the digest and no predecessor.
	insert, err := s.writer.Conn.PrepareContext(ctx, strings.TrimSuffix(insertEvent, " AND last_seq = ?"))
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	without := func(w *writer, to *storedSession, r *eventrow.Row) error {
		unit, err := w.findUnit(to.key, r)
		if err != nil {
			return err
		}
		_, err = insert.ExecContext(ctx, r.ID, r.Time, r.InvocationID, r.Author, r.Branch, r.Content, r.Actions,
			r.Usage, r.Custom, r.LongRunning, r.Extra, r.Record, unit.column(), unit.column(), nil, to.key, to.app, to.user, to.id)
		if err != nil {
			return err
		}
		if err := w.do(w.touchSession, r.Time, int64(r.Speaker), int64(r.Speaker), to.key); err != nil {
			return err
		}
		if r.InvocationID != to.latestInvocation() {
			return w.do(w.addInvocation, r.InvocationID, to.key)
		}
		return nil
	}
	said := strings.Repeat("word ", words)
	var took [2][]time.Duration
	for n := 0; b.Loop(); n++ {
		for i := range handles {
			which := (i + n) % 2 // each kind goes first half of the time
			to := handles[which]
			begin := time.Now()
			ev := session.NewEventWithContext(ctx, fmt.Sprint("inv", n))
			ev.ID, ev.Author, ev.Content = fmt.Sprint(n), "user", genai.NewContentFromText(said, genai.RoleUser)
			r, err := eventrow.Encode(ev)
			if err != nil {
				b.Fatal(err)
			}
			err = s.submit(ctx, &write{
				run: func(w *writer) error {
					if which == 0 {
						return without(w, to, &r)
					}
					return w.append(to, &r, nil)
				},
				committed: func() { to.noteInvocation(ev.InvocationID) },
			})
			if err != nil {
				b.Fatal(err)
			}
			took[which] = append(took[which], time.Since(begin))
		}
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return float64(of[len(of)/2])
	}
	b.ReportMetric(median(took[1])/median(took[0]), "with/without")
	b.ReportMetric(median(took[1])/1000, "us/append")
}
