package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// talk appends n turns of some 30 tokens each to a session that no compaction service has seen.
func talk(t testing.TB, inner session.Service, n int) *compactiontest.History {
	t.Helper()
	h := &compactiontest.History{}
	for i := range n {
		inv := fmt.Sprint("inv", i)
		h.User(inv, fmt.Sprintf("What is the weather like in town %d?", i))
		h.Agent(inv, "agent", fmt.Sprintf("In town %d the sun shines all day long.", i))
	}
	appendAll(t, inner, create(t, inner), h.Events...)
	return h
}

// weatherman writes a summary of a few words for any window that it can read, and counts its calls.
type weatherman struct {
	reads int // tokens; 0: any number

	mu    sync.Mutex
	calls int
	sizes []int // events and summaries of each window
}

func (w *weatherman) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

var errTooLong = errors.New("prompt is too long")

func (w *weatherman) Summarize(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.sizes = append(w.sizes, len(req.Events)+len(req.Summaries))
	if w.reads > 0 && estimateOf(req.Events...) > w.reads {
		return summarizer.Result{}, errTooLong
	}
	return prose(fmt.Sprintf("The user asked about the weather in %d towns one after the other, and the agent said that the sun shines in all of them.", len(req.Events)/2+len(req.Summaries))), nil
}

// TestAdoptingALongHistoryCostsFewCalls: the first append to a session that grew before compaction was
// turned on makes the prompt fit, and no more; the rest is done in the background, in windows as large
// as the summarizer reads.
func TestAdoptingALongHistoryCostsFewCalls(t *testing.T) {
	t.Parallel()
	const stored = 5000
	for name, inner := range map[string]session.Service{"stores at once": session.InMemoryService(), "stores in turns": newPlain()} {
		h := talk(t, inner, stored)
		writer, seen := &weatherman{}, &notes{}
		cfg := compaction.DefaultConfig()
		cfg.ContextWindow, cfg.Summarizer, cfg.Observer = 128_000, writer, seen.Observe
		svc := newService(t, inner, cfg)
		turn := get(t, svc)
		appendAll(t, svc, turn, h.User("new", "And what will it be like tomorrow, in the last town?").Last())
		if size := estimateOf(eventsOf(turn)...); size >= 128_000*98/100 {
			t.Errorf("the prompt has %d tokens when the model is asked", size)
		}
		if n := writer.count(); n == 0 || n > 5 {
			t.Errorf("%d calls of the summarizer before the append returned, want a few", n)
		}
		appendAll(t, svc, turn, h.Agent("new", "agent", "The sun will shine.").Last())
		flush(t, svc)
		if n := writer.count(); n > 20 {
			t.Errorf("%d calls of the summarizer for %d turns: %v", n, stored, writer.sizes)
		}
		for _, o := range append(seen.of(compaction.Failed), seen.of(compaction.Declined)...) {
			t.Errorf("%s: %s: %s %v", name, o.Outcome, o.Reason, o.Err)
		}
		if view := eventsOf(get(t, svc)); len(view) > 2*(5+2)+5 {
			t.Errorf("the view still shows %d events", len(view))
		}
		wantOnce(t, svc, h.Events)
		checkView(t, svc)
	}
}

// TestASlowSummarizerHoldsATurnNoLongerThanTheTimeout: at the time-out what is over the limit is
// summarized without the model, and the rest later.
func TestASlowSummarizerHoldsATurnNoLongerThanTheTimeout(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := talk(t, inner, 3000)
	cfg := compaction.DefaultConfig()
	seen := &notes{}
	cfg.ContextWindow, cfg.Timeout, cfg.Observer = 20_000, 50*time.Millisecond, seen.Observe
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
		<-ctx.Done()
		return summarizer.Result{}, ctx.Err()
	})
	svc := newService(t, inner, cfg)
	turn := get(t, svc)
	appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last())
	if size := estimateOf(eventsOf(turn)...); size >= 20_000*98/100 {
		t.Errorf("the prompt has %d tokens when the model is asked", size)
	}
	inlineFailures := 0
	for _, o := range seen.of(compaction.Failed) {
		if o.Inline {
			inlineFailures++
		}
	}
	if inlineFailures != 1 {
		t.Errorf("%d calls of the model failed while the turn waited, want 1", inlineFailures)
	}
	wantOnce(t, svc, h.Events)
	checkView(t, svc)
}

// TestATurnThatWaitsInVainForAModelWaitsForOneMoreSummary: at the time-out one summary without a model makes a prompt
// fit, however long the history is. Later turns do the rest.
func TestATurnThatWaitsInVainForAModelWaitsForOneMoreSummary(t *testing.T) {
	t.Parallel()
	for name, makeInner := range map[string]func() session.Service{"stores at once": session.InMemoryService, "stores in turns": func() session.Service { return newPlain() }} {
		for _, stored := range []int{1500, 12_000} {
			t.Run(fmt.Sprint(name, " ", stored), func(t *testing.T) {
				t.Parallel()
				inner := makeInner()
				h := talk(t, inner, stored)
				cfg := compaction.DefaultConfig()
				seen := &notes{}
				cfg.ContextWindow, cfg.Timeout, cfg.Observer = 20_000, 50*time.Millisecond, seen.Observe
				cfg.Summarizer = summarizerFunc(func(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
					<-ctx.Done()
					return summarizer.Result{}, ctx.Err()
				})
				svc := newService(t, inner, cfg)
				turn := get(t, svc)
				appendAll(t, svc, turn, h.User("new", "And tomorrow?").Last())
				inline := 0
				for _, o := range seen.of(compaction.Stored) {
					if o.Inline {
						inline++
					}
				}
				if inline == 0 || inline > 3 {
					t.Errorf("a turn behind %d others waited for %d summaries", stored, inline)
				}
				if size := estimateOf(eventsOf(turn)...); size >= 20_000*98/100 {
					t.Errorf("the prompt has %d tokens when the model is asked", size)
				}
				wantOnce(t, svc, h.Events)
				checkView(t, svc)
			})
		}
	}
}

// TestASummarizerThatReadsLessThanItSaysGetsSmallerWindows: a model whose window is smaller than the
// table says fails on every large window, and must not fail for ever.
func TestASummarizerThatReadsLessThanItSaysGetsSmallerWindows(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	h := talk(t, inner, 800)
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.ContextWindow = &weatherman{reads: 18_000}, 1_000_000
	svc := newService(t, inner, cfg)
	for i := range 6 {
		inv := fmt.Sprint("new", i)
		appendAll(t, svc, get(t, svc), h.User(inv, "And tomorrow?").Last(), h.Agent(inv, "agent", "The sun will shine.").Last())
		if err := svc.Flush(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(records(t, rawEvents(t, svc))); n == 0 {
		t.Error("nothing was ever summarized")
	}
	wantOnce(t, svc, h.Events)
	checkView(t, svc)
}
