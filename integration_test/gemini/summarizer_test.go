package gemini_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// failure is a failed call to the Gemini API.
type failure struct {
	name  string
	reply reply
	// says must be in the summarizer's error. is must be in the error's chain, if not nil.
	says string
	is   error
}

func failures() []failure {
	cutOff := say("Facts: the first of them is that")
	cutOff.finish = "MAX_TOKENS"
	mute, filtered, recited := reply{finish: "MAX_TOKENS", thoughts: 900}, say("Facts: I would rather not"), reply{finish: "RECITATION"}
	filtered.finish = "SAFETY"
	lost := say("Facts: the connection will be gone before the end of this sentence.")
	lost.cut = withinChunk
	thoughts := reply{parts: []object{{"text": "What shall I write?", "thought": true}}}
	return []failure{
		{name: "quota exhausted", reply: refuse(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), says: "RESOURCE_EXHAUSTED"},
		{name: "internal error", reply: refuse(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred."), says: "INTERNAL"},
		{name: "overloaded", reply: refuse(http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later."), says: "overloaded"},
		{name: "never answers", reply: reply{hang: true}, says: "did not answer within", is: context.DeadlineExceeded},
		{name: "prompt blocked", reply: reply{feedback: "PROHIBITED_CONTENT"}, says: "empty response"},
		{name: "no candidates", reply: reply{empty: true}, says: "empty response"},
		{name: "unsafe, without a word", reply: reply{finish: "SAFETY"}, says: "SAFETY", is: summarizer.ErrUnusable},
		{name: "unsafe, in mid-sentence", reply: filtered, says: "SAFETY", is: summarizer.ErrUnusable},
		{name: "recites", reply: recited, says: "RECITATION", is: summarizer.ErrUnusable},
		{name: "cut at the token limit", reply: cutOff, says: "MAX_TOKENS", is: summarizer.ErrUnusable},
		{name: "spends all tokens on thoughts", reply: mute, says: "MAX_TOKENS", is: summarizer.ErrUnusable},
		{name: "says nothing", reply: reply{}, says: "no content", is: summarizer.ErrUnusable},
		{name: "only thinks", reply: thoughts, says: "no usable summary", is: summarizer.ErrUnusable},
		{name: "calls a tool", reply: calling("lookup", true, 1), says: "calls a tool", is: summarizer.ErrUnusable},
		{name: "connection lost", reply: lost, says: "unexpected EOF"},
	}
}

// Turns continue with the full history, the failure is reported with its cause, and a later good
// answer compacts as usual.
func TestAFailingGeminiSummarizerHarmsNoTurn(t *testing.T) {
	t.Parallel()
	for _, f := range failures() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, func(cfg *compaction.Config) {
				if f.reply.hang {
					cfg.Timeout = 100 * time.Millisecond
				}
			})
			a.summarize(func(*request) reply { return f.reply })
			a.chatWithTools(12)
			asked := len(a.received(true))
			if asked == 0 {
				t.Error("no summary was requested")
			}
			a.checkFailures(f, asked)
			if raw, view := a.raw(), a.view(); !slices.Equal(compactiontest.IDs(raw), compactiontest.IDs(view)) {
				t.Errorf("the view is not the history: %d of %d events", len(view), len(raw))
			}
			a.verify(0)

			a.summarize(keepFacts)
			if f.reply.hang { // on a busy machine a good answer takes time too
				a.cfg.Timeout = 0
				a.wrap()
			}
			if _, err := a.svc.Compact(t.Context(), ref, compaction.CompactOptions{}); err != nil { // does not wait for the end of the back-off
				t.Fatalf("Compact: %v", err)
			}
			a.chatWithTools(12)
			a.verify(2)
			if !slices.ContainsFunc(a.log.of(compaction.Stored), func(o compaction.Observation) bool { return o.Trigger == record.TriggerInvocations }) {
				t.Errorf("no automatic compaction after the recovery:\n%s", a.log)
			}
		})
	}
}

func (a *app) chatWithTools(n int) {
	a.t.Helper()
	for i := range n {
		if i%3 == 0 {
			a.will(assistant, a.lookups(i%2 == 0, 2))
		}
		a.chat(1)
	}
}

// checkFailures checks that every request failed, and that each failure was reported with its
// cause.
func (a *app) checkFailures(f failure, asked int) {
	a.t.Helper()
	failed := a.log.of(compaction.Failed)
	if len(failed) != asked || len(a.log.of(compaction.Stored)) > 0 {
		a.t.Errorf("%d requests, want the same number of failures and no record:\n%s", asked, a.log)
	}
	for _, o := range failed {
		if !errors.Is(o.Err, compaction.ErrCompaction) || f.is != nil && !errors.Is(o.Err, f.is) || !strings.Contains(o.Err.Error(), f.says) {
			a.t.Errorf("reported %v; want it to contain %q, and to wrap ErrCompaction and %v", o.Err, f.says, f.is)
		}
		var refused genai.APIError
		if f.reply.status != 0 && (!errors.As(o.Err, &refused) || refused.Code != f.reply.status) {
			a.t.Errorf("reported %v, want an APIError of code %d", o.Err, f.reply.status)
		}
	}
}

// After two failures, the next trigger compacts without intervention.
func TestAHiccupOfTheSummarizerIsRetried(t *testing.T) {
	t.Parallel()
	a := simple(t, nil)
	left := 2
	a.summarize(func(r *request) reply {
		if left--; left >= 0 {
			return refuse(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
		}
		return keepFacts(r)
	})
	a.chat(20)
	if n := len(a.log.of(compaction.Failed)); n != 2 {
		t.Errorf("%d failures reported, want 2:\n%s", n, a.log)
	}
	a.verify(2)
}

// In the background, turns continue while the answer is pending. The answer is used when it
// arrives.
func TestASlowSummarizerHoldsUpNoTurn(t *testing.T) {
	t.Parallel()
	a := simple(t, func(cfg *compaction.Config) { cfg.Synchronous = false })
	release := make(chan struct{})
	a.summarize(func(r *request) reply {
		slow := keepFacts(r)
		slow.until = release
		return slow
	})
	a.chat(5)
	<-a.waiting
	a.chat(4)
	if n := len(a.log.of(compaction.Stored)); n > 0 {
		t.Errorf("%d compactions stored before the answer arrived", n)
	}
	close(release)
	if err := a.svc.Flush(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	a.chat(1)
	a.verify(1)
}

// Every request for a summary fails, but prompts stay within the window, because an extractive
// summary takes over.
func TestAtTheHardLimitTheSessionOutlivesItsSummarizer(t *testing.T) {
	t.Parallel()
	for _, f := range failures() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, func(cfg *compaction.Config) {
				cfg.ContextWindow, cfg.TokenThreshold = 3000, 1200
				if f.reply.hang {
					cfg.Timeout = 500 * time.Millisecond
				}
			})
			a.forgetful()
			a.summarize(func(*request) reply { return f.reply })
			for range 40 {
				a.will(assistant, a.lookups(false, 1))
			}
			a.chat(4)
			a.verify(1)
			if len(a.log.of(compaction.Failed)) == 0 {
				t.Errorf("no failure was reported:\n%s", a.log)
			}
			for _, o := range a.log.of(compaction.Stored) {
				if o.Model != "" {
					t.Errorf("model %q wrote a summary", o.Model)
				}
			}
			for i, r := range a.received(false) {
				if r.tokens > a.cfg.ContextWindow {
					t.Errorf("request %d has %d tokens in a window of %d", i, r.tokens, a.cfg.ContextWindow)
				}
			}
		})
	}
}
