package persistence

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/genai"
)

// BenchmarkAppendDigests tells how much longer an append takes for the digests. It appends in turns with
// them and without, in blocks, to one file, and reports the ratio of the times.
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
	// Without: the same statements, with NULL for the digest and nothing to follow.
	insert, err := s.writer.conn.PrepareContext(ctx, strings.TrimSuffix(insertEvent, " AND last_seq = ?"))
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	without := func(w *writer, to *storedSession, r *row) error {
		unit, err := w.findUnit(to.key, r)
		if err != nil {
			return err
		}
		_, err = insert.ExecContext(ctx, r.id, r.time, r.invocationID, r.author, r.branch, r.content, r.actions,
			r.usage, r.custom, r.longRunning, r.extra, r.record, unit.column(), unit.column(), nil, to.key, to.app, to.user, to.id)
		if err != nil {
			return err
		}
		if err := w.do(w.touchSession, r.time, int64(r.voice), int64(r.voice), to.key); err != nil {
			return err
		}
		if r.invocationID != to.latestInvocation() {
			return w.do(w.addInvocation, r.invocationID, to.key)
		}
		return nil
	}
	const block = 50
	said := strings.Repeat("word ", words)
	var took [2]time.Duration
	n := 0
	for b.Loop() {
		for which, to := range handles {
			begin := time.Now()
			for i := range block {
				ev := session.NewEventWithContext(ctx, fmt.Sprint("inv", n))
				ev.ID, ev.Author, ev.Content = fmt.Sprint(n, "/", i), "user", genai.NewContentFromText(said, genai.RoleUser)
				r, err := encode(ev)
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
					committed: func() { to.spoke(ev.InvocationID) },
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			took[which] += time.Since(begin)
		}
		n++
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "with/without")
	b.ReportMetric(float64(took[1].Microseconds())/float64(n*block), "us/append")
}
