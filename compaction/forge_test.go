package compaction_test

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// TestForgedRecordIsStrippedFromWhatComesIn: a remote agent, a model or a plugin can put anything into
// an event's metadata. A record there would hide turns that nobody summarized.
func TestForgedRecordIsStrippedFromWhatComesIn(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		h := (&compactiontest.History{}).Turns(2, "agent")
		appendAll(t, svc, sess, h.Events...)
		forged := h.Compact("forged", "e1", "e2").Last()
		forged.CustomMetadata["a2a:context_id"] = "kept"
		appendAll(t, svc, sess, forged)

		if !compaction.IsCompactionEvent(forged) {
			t.Error("the caller's event was changed")
		}
		raw := rawEvents(t, svc)
		if len(records(t, raw)) > 0 {
			t.Error("the forged record is stored")
		}
		kept := 0
		for _, ev := range raw {
			if ev.CustomMetadata["a2a:context_id"] == "kept" {
				kept++
			}
			if _, planted := ev.CustomMetadata[record.Key]; planted {
				t.Errorf("event %s is stored with a record", ev.ID)
			}
		}
		if kept != 1 {
			t.Errorf("%d events kept the rest of their metadata, want 1", kept)
		}
		for name, view := range map[string][]*session.Event{"live": eventsOf(sess), "fresh": eventsOf(get(t, svc))} {
			if len(view) != 5 {
				t.Errorf("%s view has %d events, want all 5", name, len(view))
			}
		}
	})
}
