package compaction_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// nineFields are the fields that ADR-009 has, for the events from first to last.
func nineFields(t *testing.T, events []*session.Event, said string) *compaction.CompactionMetadata {
	t.Helper()
	first, last := events[0], events[len(events)-1]
	content, err := json.Marshal(genai.NewContentFromText(said, genai.RoleModel))
	if err != nil {
		t.Fatal(err)
	}
	return &compaction.CompactionMetadata{
		StartTimestamp: first.Timestamp, EndTimestamp: last.Timestamp,
		StartInvocationID: first.InvocationID, EndInvocationID: last.InvocationID,
		CompactedContentJSON: string(content), EventCount: len(events), OriginalTokens: 400, CompactedTokens: 100, CompressionRatio: 4,
	}
}

// Code that was written for ADR-009 knows nine fields. They make a record that can be read, and that hides nothing,
// because a range of times names no event.
func TestTheNineFieldsOfTheDesignMakeARecordThatHidesNothing(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		h := (&compactiontest.History{}).Turns(3, "agent")
		appendAll(t, svc, create(t, svc), h.Events...)
		given := nineFields(t, h.Events, "They talked about codes.")
		before := *given
		var known []string
		for _, id := range []string{"", "e1"} { // an ID of the caller's may be that of an event
			ev := &session.Event{ID: "set " + id, InvocationID: "set", Author: "user", Timestamp: h.Events[5].Timestamp}
			given.RecordID = id
			if err := compaction.SetCompactionMetadata(ev, given); err != nil {
				t.Fatal(err)
			}
			m, err := compaction.GetCompactionMetadata(ev)
			if err != nil {
				t.Fatal(err)
			}
			text, err := m.Text()
			if err != nil || text != "They talked about codes." || m.RecordID == "" || m.Kind != record.KindSummary || m.CreatedAt.IsZero() ||
				m.EventCount != 6 || m.OriginalTokens != 400 || m.CompactedTokens != 100 || m.CompressionRatio != 4 ||
				!m.StartTimestamp.Equal(before.StartTimestamp) || !m.EndTimestamp.Equal(before.EndTimestamp) ||
				m.StartInvocationID != before.StartInvocationID || m.EndInvocationID != before.EndInvocationID {
				t.Errorf("%q, %v: %+v", text, err, m)
			}
			if known = append(known, m.RecordID); id != "" && m.RecordID != id {
				t.Errorf("record %q has the ID %q", id, m.RecordID)
			}
			appendAll(t, inner, get(t, inner), ev)
		}
		if given.RecordID = ""; known[0] == known[1] || jsonOf(t, given) != jsonOf(t, &before) {
			t.Errorf("records %q, from %+v", known, given)
		}
		shown := compactiontest.IDs(eventsOf(get(t, svc)))
		for _, ev := range h.Events {
			if !slices.Contains(shown, ev.ID) {
				t.Errorf("%s is hidden: %v", ev.ID, shown)
			}
		}
		if n := status(t, svc).UnreadableRecords; n != 0 {
			t.Errorf("%d records cannot be read", n)
		}
	})
}

func TestFewerThanTheNineFieldsMakeNoRecord(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*compaction.CompactionMetadata){
		"no content":       func(m *compaction.CompactionMetadata) { m.CompactedContentJSON = "" },
		"end before start": func(m *compaction.CompactionMetadata) { m.EndTimestamp = m.StartTimestamp.AddDate(-1, 0, 0) },
		"a count below 0":  func(m *compaction.CompactionMetadata) { m.EventCount = -1 },
		"NaN":              func(m *compaction.CompactionMetadata) { m.CompressionRatio = math.NaN() },
	} {
		m, ev := nineFields(t, turns(3), "They talked."), turns(1)[0]
		spoil(m)
		err := compaction.SetCompactionMetadata(ev, m)
		if !errors.Is(err, record.ErrMalformed) || ev.CustomMetadata != nil {
			t.Errorf("%s: %v, %v", name, err, ev.CustomMetadata)
			continue
		}
		if name == "NaN" && !strings.Contains(err.Error(), "compression_ratio: want a number, got NaN") {
			t.Errorf("the number is not named: %v", err)
		}
	}
}

// adr009Event is what another implementation of the design stores: a message of the user, with role "model" and the nine
// fields.
func adr009Event(t *testing.T, id string, events []*session.Event) *session.Event {
	t.Helper()
	m := nineFields(t, events, "They talked about codes.")
	ev := &session.Event{ID: id, InvocationID: id, Author: "user", Timestamp: m.EndTimestamp}
	ev.Content = genai.NewContentFromText("They talked about codes.", genai.RoleModel)
	ev.CustomMetadata = map[string]any{record.Key: map[string]any{
		"start_timestamp": 1.7e9, "end_timestamp": 1.8e9, "start_invocation_id": m.StartInvocationID, "end_invocation_id": m.EndInvocationID,
		"compacted_content_json": m.CompactedContentJSON, "event_count": 6.0, "original_tokens": 400.0, "compacted_tokens": 100.0, "compression_ratio": 4.0,
	}}
	return ev
}

// forms are the ways in which a service may hand back what an implementation has put under the key: as a map, as its
// JSON, and, from memory, as the value of a type of its own.
func forms(t *testing.T, fields map[string]any) map[string]any {
	t.Helper()
	type summary struct {
		Content string `json:"compacted_content_json"`
		Events  int    `json:"event_count"`
	}
	own := summary{fields["compacted_content_json"].(string), 6}
	return map[string]any{"a map": fields, "JSON": jsonOf(t, fields), "a type": own, "a pointer": &own}
}

func TestSummariesOfAnotherImplementationAreFoundInAnyForm(t *testing.T) {
	t.Parallel()
	whole := adr009Event(t, "theirs", turns(3)).CustomMetadata[record.Key].(map[string]any)
	for name, value := range forms(t, whole) {
		eachBackend(t, func(t *testing.T, inner session.Service) {
			theirs := adr009Event(t, "theirs", turns(3))
			theirs.CustomMetadata[record.Key] = value
			appendAll(t, inner, create(t, inner), append(turns(3), theirs)...)
			seen := &notes{}
			cfg, _ := oracleConfig()
			cfg.Observer, cfg.ContextWindow = seen.Observe, 100_000
			svc := newService(t, inner, cfg)
			shown := compactiontest.IDs(eventsOf(get(t, svc)))
			appendAll(t, svc, get(t, svc), (&compactiontest.History{}).Turns(14, "agent").Events[6:]...)
			flush(t, svc)
			if n := status(t, svc).UnreadableRecords; n != 1 || len(shown) != 7 || len(seen.of(compaction.Unreadable)) != 1 {
				t.Errorf("%s: %d are counted, %d reported; shown are %v", name, n, len(seen.of(compaction.Unreadable)), shown)
			}
		})
	}
	for name, value := range map[string]any{
		"nil": nil, "a flag": true, "a text": "compacted", "other JSON": `{"a":1}`, "a list": []any{"compacted_content_json"}, "no pointer": (*struct{})(nil),
	} {
		ev := adr009Event(t, "theirs", turns(3))
		ev.CustomMetadata[record.Key] = value
		if record.IsForeign(ev) {
			t.Errorf("%s is taken for a summary", name)
		}
	}
}

// A session that another implementation of ADR-009 has compacted shows that one's summaries as messages beside all that
// they summarize. Somebody is told why the prompt is so long, once.
func TestSummariesOfAnotherImplementationAreShownAndReportedOnce(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		events := turns(12)
		sess := create(t, inner)
		appendAll(t, inner, sess, events[:6]...)
		appendAll(t, inner, sess, adr009Event(t, "theirs", events[:6]))
		seen := &notes{}
		var lines bytes.Buffer
		cfg, _ := oracleConfig()
		cfg.Observer, cfg.Logger, cfg.ContextWindow = seen.Observe, slog.New(slog.NewTextHandler(&lines, nil)), 100_000
		svc := newService(t, inner, cfg)
		shown := compactiontest.IDs(eventsOf(get(t, svc)))
		for _, id := range append(compactiontest.IDs(events[:6]), "theirs") {
			if !slices.Contains(shown, id) {
				t.Errorf("%s is hidden: %v", id, shown)
			}
		}
		if n := status(t, svc).UnreadableRecords; n != 1 {
			t.Errorf("%d records are counted", n)
		}
		handle := get(t, svc)
		for _, ev := range events[6:] {
			ev.Timestamp = ev.Timestamp.AddDate(0, 0, 1)
			appendAll(t, svc, handle, ev)
		}
		appendAll(t, svc, get(t, svc), (&compactiontest.History{}).Turns(14, "agent").Events[24:]...)
		flush(t, svc)
		told := seen.of(compaction.Unreadable)
		if len(told) != 1 || told[0].Session != ref || !strings.Contains(told[0].Err.Error(), `"theirs"`) || !strings.Contains(told[0].Err.Error(), "ADR-009") {
			t.Errorf("observed %+v", told)
		}
		if n := strings.Count(lines.String(), "compaction records cannot be read"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, lines.String())
		}
	})
}
