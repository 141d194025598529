package compactiontest_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/oracle"
)

func TestCheckAcceptsAGoodViewAndCatchesALoss(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot").Compact("s", "e1", "e2")
	view := filtered.Project(h.Events)
	if err := ct.Check(h.Events, view); err != nil {
		t.Error(err)
	}
	if err := ct.Check(h.Events, view[1:]); err == nil || !strings.Contains(err.Error(), "event e1 is hidden") {
		t.Errorf("a view without its summary: %v", err)
	}
}

func TestCheckCutRecognizesTheFormOfAnEvent(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "Read it.").Call("i", "bot", "read", "c").Response("i", "bot", "read", "a long text", "c").Agent("i", "bot", "Done.")
	form := func(text string) *session.Event {
		ev, content, part := *h.Events[2], *h.Events[2].Content, *h.Events[2].Content.Parts[0].FunctionResponse
		part.Response = map[string]any{"output": text}
		ev.Content, content.Parts = &content, []*genai.Part{{FunctionResponse: &part}}
		return &ev
	}
	cut := func(ev *session.Event) *session.Event {
		if ev == h.Events[2] {
			return form("cut")
		}
		return ev
	}
	shown := func(ev *session.Event) []*session.Event {
		return []*session.Event{h.Events[0], h.Events[1], ev, h.Events[3]}
	}
	if err := oracle.CheckCut(h.Events, shown(form("cut")), cut); err != nil {
		t.Errorf("a cut view is refused: %v", err)
	}
	for name, view := range map[string][]*session.Event{"whole": shown(h.Events[2]), "another form": shown(form("other")), "missing": {h.Events[0], h.Events[1], h.Events[3]}} {
		if err := oracle.CheckCut(h.Events, view, cut); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
