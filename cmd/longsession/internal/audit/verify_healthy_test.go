package audit_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// stored returns the path of a file that fill has written and closed.
func stored(t *testing.T, fill func(t *testing.T, path string)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	// A test of its own, so that what fill has opened is closed by its clean-ups.
	t.Run("fill", func(t *testing.T) { fill(t, path) })
	return path
}

// serviceOn is a compacting service with a handle of its own on a file, as a process has it.
func serviceOn(t *testing.T, path string, cfg compaction.Config) *compaction.CompactionSessionService {
	t.Helper()
	inner, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := inner.Close(); err != nil {
			t.Error(err)
		}
	})
	return svc
}

// converse appends turns to the session "order-1", which it makes.
func converse(t *testing.T, svc session.Service, turns int) session.Session {
	t.Helper()
	return create(t, svc, user, "order-1", said(turns)...)
}

func extractive(change func(*compaction.Config)) compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.MaxSummaryTokens = summarizer.Extractive{}, true, 60
	change(&cfg)
	return cfg
}

// TestHealthyFilesHaveNoFinding: whatever the real service does.
func TestHealthyFilesHaveNoFinding(t *testing.T) {
	t.Parallel()
	ref := compaction.SessionRef{AppName: app, UserID: user, SessionID: "order-1"}
	for name, c := range map[string]struct {
		most, records int
		has           func(*record.Metadata) bool
		fill          func(t *testing.T, path string)
	}{
		"windows": {5, 3, func(m *record.Metadata) bool { return m.Level == 0 }, func(t *testing.T, path string) {
			converse(t, serviceOn(t, path, extractive(func(*compaction.Config) {})), 25)
		}},
		"merges": {2, 9, func(m *record.Metadata) bool { return m.Level > 2 }, func(t *testing.T, path string) {
			converse(t, serviceOn(t, path, extractive(func(c *compaction.Config) { c.InvocationThreshold, c.OverlapSize, c.MaxSummaries = 2, 1, 2 })), 40)
		}},
		"a rolling summary": {1, 5, func(m *record.Metadata) bool { return len(m.Covered) > 0 && len(m.Absorbed) > 0 }, func(t *testing.T, path string) {
			converse(t, serviceOn(t, path, extractive(func(c *compaction.Config) { c.MaxSummaries = 1 })), 40)
		}},
		"a checkpoint and a compaction by hand": {5, 2, func(m *record.Metadata) bool { return m.Kind == record.KindCheckpoint && m.Note != "" }, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) { c.InvocationThreshold = 30 }))
			converse(t, svc, 12)
			if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{Focus: "parcels", KeepRecent: 6}); err != nil {
				t.Fatal(err)
			}
			if _, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: "done"}); err != nil {
				t.Fatal(err)
			}
		}},
		"rounds of running turns": {5, 3, (*record.Metadata).MidTurn, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) {
				c.ContextWindow, c.RetainEvents, c.MaxSummaryTokens = 1500, 4, 100
			}))
			h := &ct.History{}
			for turn := range 3 {
				id := fmt.Sprint("long", turn)
				h.User(id, "Please look at every shelf in the warehouse and tell me what stands on each of them.")
				for n := range 30 {
					call := fmt.Sprint(id, "-", n)
					h.Call(id, "desk", "look", call).Response(id, "desk", "look", fmt.Sprintf("Shelf %d holds forty boxes of screws, twelve lamps and a chair that nobody has claimed since spring.", n), call)
				}
				h.Agent(id, "desk", "That was the last shelf.")
			}
			create(t, svc, user, "order-1", h.Events...)
		}},
		"branches": {5, 2, func(m *record.Metadata) bool { return m.Branch == "desk.far" }, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) {}))
			h := &ct.History{}
			for n := range 20 {
				id := fmt.Sprint("i", n)
				h.Branch("").User(id, fmt.Sprintf("Question %d about the parcel that was sent to Kassel in the first week of March.", n)).
					Branch("desk.far").Agent(id, "far", fmt.Sprintf("I am looking into number %d, which may take me some time, and will be back with all of it.", n)).
					Branch("").Agent(id, "desk", fmt.Sprintf("Here is all that I know about number %d, which has not moved since it came in.", n))
			}
			create(t, svc, user, "order-1", h.Events...)
		}},
		"strange names, times and numbers": {5, 1, nil, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) {}))
			events := said(12)
			for i, ev := range events {
				ev.ID = fmt.Sprintf("id \xff %d \"'/", i)
				ev.Author += "\xfe"
				ev.Timestamp = ev.Timestamp.Add(time.Duration(i) * 1234567 * time.Nanosecond).In(time.FixedZone("far", 14*3600))
				if i%7 == 0 {
					ev.Timestamp = time.Date(12000, 1, 1, 0, 0, i, 5, time.UTC)
				}
				if i%4 == 2 {
					ev.Content.Parts[0].FunctionResponse.Response = map[string]any{"n": 1e21, "i": int64(9007199254740993), "deep": []any{map[string]any{"x": uint8(3), "bytes": []byte("abc")}}, "<&>": "<&>\u2028"}
				}
			}
			create(t, svc, user, "order-1", events...)
		}},
		"files, thoughts and state": {5, 1, nil, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) {}))
			events := said(12)
			for i, ev := range events {
				ev.Content.Parts = append(ev.Content.Parts, &genai.Part{Text: "I wonder.", Thought: true}, &genai.Part{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte{1, 2, 3}}})
				ev.Actions.StateDelta = map[string]any{"k": i, "app:k": i, "user:k": i, "temp:k": i}
			}
			create(t, svc, user, "order-1", events...)
		}},
		"values of tools, in Chinese and without names": {5, 2, func(m *record.Metadata) bool {
			return slices.ContainsFunc(m.Values, func(v record.Value) bool { return v.Text == "P-710" }) &&
				slices.ContainsFunc(m.Values, func(v record.Value) bool { return v.Text == "parcel 1000.25" }) &&
				slices.ContainsFunc(m.Values, func(v record.Value) bool { return v.Text == "error: 无法打开" })
		}, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) {
				c.MaxSummaryTokens = 400
				c.Redact = func(text string) string {
					return strings.ReplaceAll(strings.ReplaceAll(text, "Smith", "[REDACTED-1]"), "patient", "[REDACTED-2]")
				}
			}))
			events := said(12)
			for i, ev := range events {
				if i%4 == 2 {
					ev.Content.Parts[0].FunctionResponse.Response = map[string]any{"out": `{"log": "error: \u65e0\u6cd5\u6253\u5f00"}`}
				}
			}
			events[2].Content.Parts[0].FunctionResponse.Response["parcel"] = 1000.25
			events[2].Content.Parts[0].FunctionResponse.Response["patient"] = "P-710"
			events[2].Content.Parts[0].FunctionResponse.Response["note"] = "Smith has K-70 & <b>"
			create(t, svc, user, "order-1", events...)
		}},
		"an old file, and turns since": {5, 4, nil, func(t *testing.T, path string) {
			cfg := extractive(func(*compaction.Config) {})
			t.Run("old", func(t *testing.T) { converse(t, serviceOn(t, path, cfg), 15) })
			// As the first version of the schema left it.
			run(t, path, testkit.DropSearch, "DROP TABLE tool_result_chunks", "DROP TABLE tool_result_blobs", "ALTER TABLE events DROP COLUMN digest", "ALTER TABLE sessions DROP COLUMN undigested", "DROP TABLE identity", "PRAGMA user_version = 1")
			svc := serviceOn(t, path, cfg)
			resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "order-1"})
			if err != nil {
				t.Fatal(err)
			}
			for i, ev := range said(15) {
				ev.ID, ev.InvocationID, ev.Timestamp = fmt.Sprint("new", i), "new-"+ev.InvocationID, ev.Timestamp.Add(time.Hour)
				if err := svc.AppendEvent(t.Context(), resp.Session, ev); err != nil {
					t.Fatal(err)
				}
			}
		}},
		"results that the view cuts": {10, 1, nil, func(t *testing.T, path string) {
			svc := serviceOn(t, path, extractive(func(c *compaction.Config) { c.Cut = firstWords }))
			resp, err := svc.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: ref.SessionID})
			if err != nil {
				t.Fatal(err)
			}
			var h ct.History
			for i := range 6 {
				inv, id := fmt.Sprint("inv", i), fmt.Sprint("c", i)
				h.User(inv, "Read file "+id+".").Call(inv, "bot", "read", id).Response(inv, "bot", "read", strings.Repeat("line of code ", 2_000), id).Agent(inv, "bot", "It is code.")
			}
			for _, ev := range h.Events {
				if err := svc.AppendEvent(t.Context(), resp.Session, ev); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 1}); err != nil {
				t.Fatal(err)
			}
		}},
		"two processes at once": {20, 4, nil, func(t *testing.T, path string) {
			cfg := extractive(func(c *compaction.Config) { c.InvocationThreshold = compaction.Off; c.SafetyRatio = 0.9 })
			one, other := serviceOn(t, path, cfg), serviceOn(t, path, cfg)
			converse(t, one, 14)
			// Each holds what it loaded before the other one compacted.
			both := []*compaction.CompactionSessionService{one, other}
			for n := range 6 {
				done := make(chan error, len(both))
				for _, svc := range both {
					go func() {
						_, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 12 - 2*n})
						done <- err
					}()
				}
				for range both {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := stored(t, c.fill)
			found, texts, done := verified(t, path, c.most)
			if len(found) > 0 {
				t.Errorf("%v\n%s", found, texts)
			}
			records, _ := recordsOf(t, path)
			has := c.has == nil
			for _, m := range records {
				has = has || c.has(m)
			}
			if done.Records < c.records || !has {
				t.Errorf("%d records, want %d: this test looks in the wrong place", done.Records, c.records)
			}
		})
	}
}

// firstWords is a Cut function that keeps the beginning of every result.
func firstWords(_ compaction.SessionRef, ev *session.Event) *session.Event {
	form, content := *ev, *ev.Content
	form.Content, content.Parts = &content, slices.Clone(content.Parts)
	for i, part := range content.Parts {
		if part.FunctionResponse != nil {
			response := *part.FunctionResponse
			response.Response = map[string]any{"output": "line of code line of code [cut]"}
			content.Parts[i] = &genai.Part{FunctionResponse: &response}
		}
	}
	return &form
}
