package compaction_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/tokens"
)

// huge is the size of a text that fills many context windows by itself, in bytes.
var huge = sizeOfHuge()

func sizeOfHuge() int {
	if testkit.Race {
		return 2 << 20
	}
	return 16 << 20
}

// hugeEvents add as much to a history, each in its own way.
var hugeEvents = map[string]func(h *compactiontest.History){
	"text": func(h *compactiontest.History) { h.User("huge", strings.Repeat("blah ", huge/5)) },
	"tool result": func(h *compactiontest.History) {
		h.User("huge", "Read it.").Call("huge", "agent", "read", "c").
			Response("huge", "agent", "read", strings.Repeat("blah ", huge/5), "c")
	},
	"inline text": func(h *compactiontest.History) {
		h.Add("huge", "user", genai.NewContentFromBytes(bytes.Repeat([]byte("blah "), huge/5), "text/plain", genai.RoleUser))
	},
	"inline image": func(h *compactiontest.History) {
		h.Add("huge", "user", genai.NewContentFromBytes(make([]byte, huge), "image/png", genai.RoleUser))
	},
}

// TestHugeEventHarmsNoTurnAndIsSummarized: the summarizing model is shown as much of it as it can
// read, and then it leaves the view.
func TestHugeEventHarmsNoTurnAndIsSummarized(t *testing.T) {
	t.Parallel()
	for name, add := range hugeEvents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				llm := compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse {
					return compactiontest.Say("They talked about codes, and about a long text.")
				})
				cfg := compaction.DefaultConfig()
				cfg.Model, cfg.Synchronous = llm, true
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				h := &compactiontest.History{}
				add(h)
				h.Agent("huge", "agent", "I have read all of it.")
				for i := range 4 {
					h.Turn(fmt.Sprint("after", i), "agent", "And now? "+words(20), "Now this. "+words(20))
				}
				appendAll(t, svc, sess, h.Events...)

				requests := llm.Requests()
				if n := len(requests); n == 0 || n > 1+8+2 { // one in up to eight pieces and the notes on them, and two more
					t.Fatalf("%d calls of the summarizing model", n)
				}
				for _, contents := range requests {
					if size := tokens.OfContents(contents); size > tokens.DefaultContextWindow {
						t.Errorf("the summarizing model was sent %d tokens", size)
					}
				}
				view := eventsOf(sess)
				for _, ev := range view {
					if ev.InvocationID == "huge" && tokens.OfEvent(ev) > 20 { // what was said about it may stay
						t.Errorf("%s is still in the view, %d tokens", ev.ID, tokens.OfEvent(ev))
					}
				}
				raw := rawEvents(t, svc)
				if got := len(raw) - len(records(t, raw)); got != len(h.Events) {
					t.Errorf("%d events are stored, want %d", got, len(h.Events))
				}
				if err := compactiontest.Check(raw, asStored(raw, view)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// asStored replaces the events of a view by those that were read from storage, by ID.
func asStored(raw, view []*session.Event) []*session.Event {
	byID := map[string]*session.Event{}
	for _, ev := range raw {
		byID[ev.ID] = ev
	}
	out := make([]*session.Event, len(view))
	for i, ev := range view {
		if out[i] = byID[ev.ID]; out[i] == nil {
			out[i] = ev
		}
	}
	return out
}

// metered is a value in a tool result that counts how often it is read.
type metered struct{ reads *int }

func (m metered) MarshalJSON() ([]byte, error) {
	*m.reads++
	return []byte(`"` + strings.Repeat("blah ", 100) + `"`), nil
}

// TestEventIsNotMeasuredAgainAtEveryAppend: a result of many megabytes would make every later append
// slow.
func TestEventIsNotMeasuredAgainAtEveryAppend(t *testing.T) {
	t.Parallel()
	for name, turns := range map[string]int{"nothing is due": 3, "summaries of other turns": 300} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads, seen := 0, &notes{}
			cfg, _ := oracleConfig()
			cfg.Observer = seen.Observe
			cfg.Pin = func(ev *session.Event) bool { return ev.InvocationID == "metered" }
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			h := (&compactiontest.History{}).User("metered", "Read it.").Call("metered", "agent", "read", "c").
				Response("metered", "agent", "read", "", "c")
			h.Last().Content.Parts[0].FunctionResponse.Response["text"] = metered{&reads}
			h.Turns(turns, "agent")
			appendAll(t, svc, sess, h.Events...)
			compactions := len(seen.of(compaction.Started))
			if reads == 0 || (compactions > 0) != (turns > 3) {
				t.Fatalf("read %d times, %d compactions: the test shows nothing", reads, compactions)
			}
			if most := 2 + 6*compactions; reads > most {
				t.Errorf("read %d times in %d appends and %d compactions", reads, len(h.Events), compactions)
			}
		})
	}
}
