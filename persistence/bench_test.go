package persistence_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/persistence"
)

// typical returns the n-th event of a conversation with tools. Each turn has four events: a message
// of the user, a call, its response and an answer.
func typical(n int) *session.Event {
	ev := session.NewEventWithContext(context.Background(), fmt.Sprintf("e-8f14e45f-ceea-467f-a0e6-%012d", n/4))
	ev.Author = "assistant"
	args := map[string]any{"order_id": fmt.Sprintf("ORD-%d", n), "fields": []any{"status", "carrier", "eta"}, "limit": 10.0}
	switch n % 4 {
	case 0:
		ev.Author = "user"
		ev.Content = genai.NewContentFromText(fmt.Sprintf("Where is my order ORD-%d? It should have come on Tuesday, and nobody answers the phone.", n), genai.RoleUser)
	case 1:
		ev.Content = &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: ev.ID, Name: "look_up_order", Args: args}}}}
		ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1500, CandidatesTokenCount: 30, TotalTokenCount: 1530}
		ev.FinishReason, ev.ModelVersion = genai.FinishReasonStop, "gemini-2.5-flash"
	case 2:
		ev.Content = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: ev.ID, Name: "look_up_order", Response: map[string]any{
			"status": "in transit", "carrier": "Parcel & Sons", "eta": "2026-03-04T12:00:00Z", "stops": []any{"Hamburg", "Hannover", "Kassel"}, "attempts": 2.0, "request": args,
		}}}}}
	default:
		ev.Content = genai.NewContentFromText(fmt.Sprintf("Your order ORD-%d is in transit with Parcel & Sons. It left Kassel this morning and should be with you on Wednesday by noon. I am sorry that nobody answered: the line is busy after the holidays.", n), genai.RoleModel)
		ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1600, CandidatesTokenCount: 60, TotalTokenCount: 1660}
		ev.FinishReason, ev.ModelVersion, ev.AvgLogprobs = genai.FinishReasonStop, "gemini-2.5-flash", -0.25
	}
	return ev
}

var modes = map[string][]persistence.Option{"FULL": nil, "NORMAL": {persistence.WithSynchronousNormal()}}

func BenchmarkAppend(b *testing.B) {
	for mode, opts := range modes {
		for _, writers := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", mode, writers), func(b *testing.B) {
				s := open(b, b.TempDir()+"/bench.db", opts...)
				handles := make([]session.Session, writers)
				for i := range handles {
					handles[i] = create(b, s, fmt.Sprint(i))
				}
				var next, slowest atomic.Int64
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for _, handle := range handles {
					wg.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							ev := typical(int(n))
							start := time.Now()
							if err := s.AppendEvent(context.Background(), handle, ev); err != nil {
								b.Error(err)
								return
							}
							took := int64(time.Since(start))
							for was := slowest.Load(); took > was && !slowest.CompareAndSwap(was, took); was = slowest.Load() {
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
				b.ReportMetric(float64(slowest.Load())/1e6, "slowest-ms")
			})
		}
	}
}

// BenchmarkHandWritten is the baseline for BenchmarkAppend: prepared statements alone, for the same
// two statements and the same bytes.
func BenchmarkHandWritten(b *testing.B) {
	for mode := range modes {
		b.Run(mode, func(b *testing.B) {
			path := b.TempDir() + "/bench.db"
			s, err := persistence.NewSQLiteSessionService(path)
			if err != nil {
				b.Fatal(err)
			}
			create(b, s, "s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			db, err := sql.Open("sqlite", path+"?_pragma=foreign_keys(1)&_pragma=synchronous("+mode+")")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(ctx)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			prepare := func(text string) *sql.Stmt {
				stmt, err := conn.PrepareContext(ctx, text)
				if err != nil {
					b.Fatal(err)
				}
				return stmt
			}
			begin, commit := prepare("BEGIN IMMEDIATE"), prepare("COMMIT")
			insert := prepare(`INSERT INTO events (session, seq, id, time, invocation_id, author, branch, content, actions, usage_metadata) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
			update := prepare(`UPDATE sessions SET last_seq = ?, updated_at = ? WHERE key = 1`)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				ev := typical(n)
				content, err := json.Marshal(ev.Content)
				if err != nil {
					b.Fatal(err)
				}
				var usage any
				if ev.UsageMetadata != nil {
					text, err := json.Marshal(ev.UsageMetadata)
					if err != nil {
						b.Fatal(err)
					}
					usage = string(text)
				}
				at := ev.Timestamp.UTC().Format(time.RFC3339Nano)
				for _, run := range []func() (sql.Result, error){
					func() (sql.Result, error) { return begin.ExecContext(ctx) },
					func() (sql.Result, error) {
						return insert.ExecContext(ctx, n+1, ev.ID, at, ev.InvocationID, ev.Author, ev.Branch, string(content), `{"state_delta":{},"artifact_delta":{}}`, usage)
					},
					func() (sql.Result, error) { return update.ExecContext(ctx, n+1, at) },
					func() (sql.Result, error) { return commit.ExecContext(ctx) },
				} {
					if _, err := run(); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, events := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			s := open(b, b.TempDir()+"/bench.db", persistence.WithSynchronousNormal())
			sess := create(b, s, "s")
			for n := range events {
				appendTo(b, s, sess, typical(n))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if n := get(b, s, "s").Events().Len(); n != events {
					b.Fatalf("%d events", n)
				}
			}
		})
	}
}

// hidden are statements that insert n events, in turns of four, covered by one record. They insert
// in bulk, because appending a million events takes minutes. The cost of GetActive does not depend
// on the content of these events.
var hidden = []string{
	`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
	INSERT INTO events (session, seq, id, time, invocation_id, author, branch, covered_by, unit, content, actions)
	SELECT ?1, i, 'hidden-' || i, '2026-01-01T00:00:00.000000000Z', 'hidden-' || (i / 4), iif(i % 4 = 0, 'user', 'bot'), '',
		'w0', iif(i % 4 IN (1, 2), i - i % 4 + 1, NULL),
		'{"parts":[{"text":"Where is my order ORD-' || i || '? It should have come on Tuesday, and nobody answers."}],"role":"user"}',
		'{"state_delta":{},"artifact_delta":{}}' FROM n`,
	`INSERT INTO calls (session, id, orphan, branch, seq) SELECT session, '1', 0, '', seq FROM events WHERE session = ?1 AND seq % 4 = 1 AND ?2`,
	`INSERT INTO invocations (session, id, began) SELECT session, invocation_id, min(seq) FROM events WHERE session = ?1 AND ?2 GROUP BY invocation_id`,
	`UPDATE sessions SET last_seq = ?2, last_user = ?2, last_agent = ?2 - 1 WHERE key = ?1`,
}

// BenchmarkGetActive must take the same time for a compacted session of 100 events and of 100,000,
// even next to a million events of other sessions. times-of-100 is the ratio to the first.
func BenchmarkGetActive(b *testing.B) {
	path := b.TempDir() + "/bench.db"
	s := open(b, path, persistence.WithSynchronousNormal())
	fill := func(id string, events int) {
		sess := create(b, s, id)
		db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(60000)&_pragma=synchronous(0)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		key := number(b, path, "SELECT key FROM sessions WHERE id = ?", sess.ID())
		for _, statement := range hidden {
			if _, err := db.Exec(statement, key, events); err != nil {
				b.Fatal(err)
			}
		}
	}
	keep := func(id string) {
		k := &keeper{TB: b, service: s, session: get(b, s, id)}
		k.turns(24)
	}
	newKeeper(b, s, "100").turns(24)
	fill("100000", 100_000)
	keep("100000")
	var first float64
	run := func(name, id string, atLeast int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				few := active(b, s, id)
				if few.StoredEvents() < atLeast || few.Events().Len() > 40 {
					b.Fatalf("%d of %d events loaded", few.Events().Len(), few.StoredEvents())
				}
			}
			each := float64(b.Elapsed()) / float64(b.N)
			if id == "100" {
				first = each
			}
			b.ReportMetric(each/first, "times-of-100")
		})
	}
	run("events=100", "100", 100)
	run("events=100000", "100000", 100_000)
	for i := range 10 {
		fill(fmt.Sprint("other", i), 100_000)
	}
	run("events=100000/beside=1000000", "100000", 100_000)
}
