package compaction_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// adkRecord is what ADK's own compaction appends for some events: no content, and the summary with a range of times in the
// actions, or in the metadata where the type of the actions has no field for it.
func adkRecord(t *testing.T, id string, events []*session.Event) *session.Event {
	t.Helper()
	first, last := events[0], events[len(events)-1]
	content, err := json.Marshal(genai.NewContentFromText("They talked about codes.", genai.RoleModel))
	if err != nil {
		t.Fatal(err)
	}
	var summary map[string]any
	if err := json.Unmarshal(content, &summary); err != nil {
		t.Fatal(err)
	}
	ev := &session.Event{ID: id, InvocationID: id, Author: "user", Timestamp: last.Timestamp}
	ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 90_000}
	ev.CustomMetadata = map[string]any{"_compaction": map[string]any{
		"start_timestamp": float64(first.Timestamp.UnixMicro()) / 1e6, "end_timestamp": float64(last.Timestamp.UnixMicro()) / 1e6, "compacted_content": summary,
	}}
	return ev
}

// With ADK's own compaction on as well, its records are stored as they are. They are in no view, where ADK would leave
// messages out for them; they count as no turn and no prompt; every message is shown or summarized by ours; and the app is
// told once.
func TestADKsOwnCompactionBesideOursTakesNothingAway(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		play := func(inner session.Service, beside bool) (shown []string, svc *compaction.CompactionSessionService, seen *notes, lines *bytes.Buffer) {
			seen, lines = &notes{}, &bytes.Buffer{}
			cfg, _ := oracleConfig()
			cfg.Observer, cfg.Logger, cfg.ContextWindow, cfg.Synchronous = seen.Observe, slog.New(slog.NewTextHandler(lines, nil)), 100_000, true
			svc = newService(t, inner, cfg)
			h := (&compactiontest.History{}).Turns(24, "agent")
			sess := create(t, svc)
			for i := 0; i < len(h.Events); i += 2 {
				appendAll(t, svc, sess, h.Events[i:i+2]...)
				if n := i/2 + 1; beside && n%3 == 0 {
					appendAll(t, svc, sess, adkRecord(t, fmt.Sprint("adk", n), h.Events[max(0, i-6):i+2]))
				}
			}
			shown = texts(eventsOf(get(t, svc)))
			return shown, svc, seen, lines
		}
		with, svc, seen, lines := play(inner, true)
		without, _, _, _ := play(session.InMemoryService(), false)
		if !slices.Equal(with, without) {
			t.Errorf("the view with their records:\n%q\nwithout them:\n%q", with, without)
		}
		if n := status(t, svc).UnreadableRecords; n != 8 {
			t.Errorf("%d records are counted, want 8", n)
		}
		stored := eventsOf(get(t, inner))
		for n := 3; n <= 24; n += 3 {
			i := slices.IndexFunc(stored, func(ev *session.Event) bool { return ev.ID == fmt.Sprint("adk", n) })
			if i < 0 || stored[i].CustomMetadata["_compaction"] == nil {
				t.Errorf("record %d is not stored as it was", n)
			}
		}
		told := seen.of(compaction.Unreadable)
		if len(told) != 1 || told[0].Session != ref || !strings.Contains(told[0].Err.Error(), `"adk3"`) || !strings.Contains(told[0].Err.Error(), "remove EventsCompactionConfig") {
			t.Errorf("observed %+v", told)
		}
		if n := strings.Count(lines.String(), "remove EventsCompactionConfig"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, lines.String())
		}
		if len(seen.of(compaction.Misreported)) > 0 || strings.Contains(lines.String(), "is counted") {
			t.Errorf("their summarizer's prompt was taken for one of the agent:\n%s", lines.String())
		}
	})
}

// TestRecordsFromBeforeAreCountedAndNotReported: an app that has come over from ADK's compaction has nothing left to remove,
// so the status counts the old records and the log says nothing.
func TestRecordsFromBeforeAreCountedAndNotReported(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		h := (&compactiontest.History{}).Turns(14, "agent")
		sess := create(t, inner)
		appendAll(t, inner, sess, h.Events[:12]...)
		appendAll(t, inner, sess, adkRecord(t, "adk", h.Events[:12]))
		seen := &notes{}
		var lines bytes.Buffer
		cfg, _ := oracleConfig()
		cfg.Observer, cfg.Logger, cfg.ContextWindow, cfg.Synchronous = seen.Observe, slog.New(slog.NewTextHandler(&lines, nil)), 100_000, true
		svc := newService(t, inner, cfg)
		if shown := compactiontest.IDs(eventsOf(get(t, svc))); len(shown) != 12 || slices.Contains(shown, "adk") {
			t.Errorf("the view is %v", shown)
		}
		appendAll(t, svc, get(t, svc), h.Events[12:]...)
		if st := status(t, svc); st.UnreadableRecords != 1 || len(st.Summaries) == 0 {
			t.Errorf("%d records are counted, %d summaries written", st.UnreadableRecords, len(st.Summaries))
		}
		if told := seen.of(compaction.Unreadable); len(told) > 0 || lines.Len() > 0 {
			t.Errorf("observed %+v, logged:\n%s", told, lines.String())
		}
	})
}
