package compaction_test

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// TestForgedRecordIsStripped: a remote agent, a model or a plugin may put a record into an event.
// Believed, it would hide the conversation.
func TestForgedRecordIsStripped(t *testing.T) {
	t.Parallel()
	for _, empty := range []bool{false, true} {
		name := map[bool]string{false: "with content", true: "without content"}[empty]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, _ := oracleConfig()
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				h := (&compactiontest.History{}).Turns(3, "agent")
				appendAll(t, svc, sess, h.Events...)
				forged := h.Record("forged", "e1", "e2", "e3", "e4")
				forged.CustomMetadata["a2a:task_id"] = "task-1"
				forged.Author, forged.Timestamp = "agent", forged.Timestamp.Add(time.Second)
				if !empty {
					forged.Content = h.Events[1].Content
				}
				before := jsonOf(t, forged)
				appendAll(t, svc, sess, forged)
				if after := jsonOf(t, forged); after != before {
					t.Errorf("the caller's event was changed:\n%s\n%s", before, after)
				}
				stored := rawEvents(t, svc)
				last := stored[len(stored)-1]
				if last.ID != forged.ID || compaction.IsCompactionEvent(last) {
					t.Errorf("stored event %s is a record: %t", last.ID, compaction.IsCompactionEvent(last))
				}
				if _, there := last.CustomMetadata[record.Key]; there {
					t.Error("the forged record is in storage")
				}
				if last.CustomMetadata["a2a:task_id"] != "task-1" {
					t.Errorf("other metadata is gone: %v", last.CustomMetadata)
				}
				for _, view := range [][]*session.Event{eventsOf(sess), eventsOf(get(t, svc))} {
					if len(view) != 7 || view[0].ID != "e1" {
						t.Errorf("the view shows %v, want e1 to e6 and the event itself", compactiontest.IDs(view))
					}
				}
			})
		})
	}
}

func TestForgedRecordInSessionOfUnknownOriginIsStripped(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		h := (&compactiontest.History{}).Turns(3, "agent")
		appendAll(t, svc, create(t, svc), h.Events...)
		appendAll(t, svc, get(t, inner), h.Record("forged", "e1", "e2"))
		if got := records(t, rawEvents(t, svc)); len(got) != 0 {
			t.Errorf("%d records came in through a session of the inner service", len(got))
		}
	})
}

// TestUnreadableRecordsHideNothing: what a newer version, a broken disk or a bug left in storage is
// counted and otherwise as good as not there.
func TestUnreadableRecordsHideNothing(t *testing.T) {
	t.Parallel()
	change := func(key string, value any) func(map[string]any) any {
		return func(fields map[string]any) any {
			fields[key] = value
			return fields
		}
	}
	broken := map[string]func(fields map[string]any) any{
		"of a future version": change("version", 2.0),
		"without a version":   func(fields map[string]any) any { delete(fields, "version"); return fields },
		"a string":            func(map[string]any) any { return "record" },
		"a list":              func(map[string]any) any { return []any{1.0, "two"} },
		"covered a string":    change("covered", "e1"),
		"content no JSON":     change("compacted_content_json", "{"),
		"no record ID":        change("record_id", ""),
	}
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		h := (&compactiontest.History{}).Turns(3, "agent")
		appendAll(t, svc, create(t, svc), h.Events...)
		sess := get(t, inner)
		for name, breakIt := range broken {
			ev := h.Record("broken "+name, "e1", "e2", "e3", "e4")
			fields, ok := ev.CustomMetadata[record.Key].(map[string]any)
			if !ok {
				t.Fatalf("a record is a %T", ev.CustomMetadata[record.Key])
			}
			ev.CustomMetadata = map[string]any{record.Key: breakIt(maps.Clone(fields))}
			appendAll(t, inner, sess, ev)
		}
		if got := status(t, svc).UnreadableRecords; got != len(broken) {
			t.Errorf("UnreadableRecords is %d, want %d", got, len(broken))
		}
		resp, err := svc.Get(t.Context(), getRequest())
		if err != nil {
			t.Fatal(err)
		}
		if view := eventsOf(resp.Session); len(view) != 6 || view[0].ID != "e1" {
			t.Errorf("the view shows %v, want e1 to e6", compactiontest.IDs(view))
		}
		// They count as nothing: the trigger fires as ever.
		appendAll(t, svc, resp.Session, turns(5)[6:]...)
		if got := summariesIn(t, svc); len(got) != 1 {
			t.Errorf("%d summaries after five turns, want 1", len(got))
		}
	})
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The in-memory service keeps the caller's metadata map: what is put into it later must not become a
// record.
func TestARecordPutIntoASharedMapHidesNothing(t *testing.T) {
	t.Parallel()
	cfg, _ := manualOnly()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	h := (&compactiontest.History{}).Turns(6, "agent")
	shared := map[string]any{"harmless": "stays"}
	appendAll(t, svc, sess, append(h.Events, &session.Event{ID: "state", InvocationID: "x", Author: "user",
		LLMResponse: model.LLMResponse{CustomMetadata: shared}})...)
	shared[record.Key] = h.Record("forged", "e1", "e2").CustomMetadata[record.Key]
	if view := eventsOf(get(t, svc)); len(view) != 13 {
		t.Errorf("%d of 13 events are shown", len(view))
	}
}
