package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// inventing summarizes as a model does that names an order nobody has spoken of, until it is told so.
func inventing(always bool) (by compaction.Summarizer, calls *int) {
	calls = new(int)
	return summarizerFunc(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		*calls++
		text := vague
		if req.Again == "" || always {
			text += " Order A-9999 was refunded."
		}
		return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel), Model: "writer", Calls: 1, Usage: tokens.Usage{PromptTokens: 1000, OutputTokens: 50}}, nil
	}), calls
}

// TestNoValueThatAModelInventsIsShown: neither where the second try is better nor where it is not.
func TestNoValueThatAModelInventsIsShown(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		cfg := compaction.DefaultConfig()
		by, calls := inventing(always)
		seen := &notes{}
		cfg.Summarizer, cfg.Synchronous, cfg.Observer = by, true, seen.Observe
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), orders(12)...)
		shown := summaryTexts(eventsOf(get(t, svc)))
		if len(shown) != 2 || *calls != 4 || len(seen.all()) == 0 {
			t.Fatalf("%d summaries from %d calls, want 2 from 4", len(shown), *calls)
		}
		for _, text := range shown {
			if !strings.Contains(text, vague) || strings.Contains(text, "A-9999") {
				t.Errorf("always %v: a summary is %q", always, text)
			}
		}
		for _, o := range seen.all() {
			if o.Outcome == compaction.Stored && (o.Kept == nil || (o.Invented > 0) != always || o.Usage.PromptTokens != 2000 || o.Answers != 2) {
				t.Errorf("always %v: an observation has %d invented values, %v kept, usage %+v of %d answers", always, o.Invented, o.Kept, o.Usage, o.Answers)
			}
		}
		for _, ev := range rawEvents(t, svc) {
			m, err := record.From(ev)
			if err != nil {
				t.Fatal(err)
			}
			if m == nil {
				continue
			}
			cut := 0
			if always {
				cut = 1
			}
			if m.Invented != cut || m.Kept == nil || *m.Kept < .5 || m.Usage.PromptTokens != 2000 {
				t.Errorf("always %v: a record has %d invented values, %v kept, usage %+v", always, m.Invented, m.Kept, m.Usage)
			}
		}
	}
}

// TestWhatIsOpenStaysAsItWasSaid: a summary need not repeat a call that waits, the newest message, or what the user wanted
// in older ones: the first two stay raw, and the wishes stand in front of the values, whatever a model makes of them.
func TestWhatIsOpenStaysAsItWasSaid(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = rewording(), true
	svc := newService(t, session.InMemoryService(), cfg)
	var h compactiontest.History
	h.User("inv0", wishOf(0)).LongCall("inv0", "agent", "ask_the_landlord", "open")
	for i := range 16 {
		h.Turn(fmt.Sprint("inv", i+1), "agent", wishOf(i+1), "I have looked at it closely. "+strings.Repeat("There is a lot to say about that wall, its age and its many colors. ", 8))
	}
	h.User("last", "And now, is the landlord fine with it?")
	appendAll(t, svc, create(t, svc), h.Events...)
	view := eventsOf(get(t, svc))
	shown := summaryTexts(view)
	if len(shown) == 0 || len(view) >= len(h.Events) {
		t.Fatal("nothing was summarized")
	}
	if last := view[len(view)-1]; last.Content.Parts[0].Text != "And now, is the landlord fine with it?" {
		t.Errorf("the newest message is %q", last.Content.Parts[0].Text)
	}
	waits := false
	for _, ev := range view {
		for _, p := range ev.Content.Parts {
			waits = waits || p.FunctionCall != nil && p.FunctionCall.ID == "open"
		}
	}
	if !waits {
		t.Error("the call that waits is not in the view")
	}
	all := strings.Join(texts(view), "\n")
	for i := range 17 {
		if !strings.Contains(all, wishOf(i)) {
			t.Errorf("%q is nowhere in the view", wishOf(i))
		}
	}
}
