package integration_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// fickle is a summarizer that misbehaves until it is repaired.
type fickle struct {
	bad, good compaction.Summarizer
	mended    atomic.Bool
}

func (f *fickle) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	if f.mended.Load() {
		return f.good.Summarize(ctx, req)
	}
	return f.bad.Summarize(ctx, req)
}

func answering(content *genai.Content) compaction.Summarizer {
	return summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Content: content}, nil
	})
}

func parts(parts ...*genai.Part) *genai.Content {
	return &genai.Content{Role: genai.RoleModel, Parts: parts}
}

// Whatever the summarizer does, turns continue with the full history, the failure is reported, and
// compactions resume once the summarizer is repaired.
func TestABadSummarizerHarmsNoTurn(t *testing.T) {
	t.Parallel()
	echo := summarizer.Func(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		text := canonical(req.Events)
		return summarizer.Result{Content: genai.NewContentFromText(text+text, genai.RoleModel)}, nil
	})
	vandal := summarizer.Func(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		for _, ev := range req.Events {
			ev.Author, ev.Content.Parts[0].Text, ev.ID = "nobody", "spoilt", ""
		}
		return summarizer.Result{}, errors.New("vandalized")
	})
	for _, variant := range []struct {
		name string
		bad  compaction.Summarizer
		want compaction.Outcome
	}{
		{"fails", summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			return summarizer.Result{}, errors.New("quota exceeded")
		}), compaction.Failed},
		{"panics", summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) { panic("oops") }), compaction.Failed},
		{"changes what it is given", vandal, compaction.Failed},
		{"returns nothing", answering(nil), compaction.Failed},
		{"returns no parts", answering(parts()), compaction.Failed},
		{"returns a nil part", answering(parts(nil)), compaction.Failed},
		{"returns whitespace", answering(parts(&genai.Part{Text: " \n\t\u00a0 "})), compaction.Failed},
		{"returns thoughts", answering(parts(&genai.Part{Text: "Hm, let me see.", Thought: true})), compaction.Failed},
		{"returns a function call", answering(parts(&genai.Part{FunctionCall: &genai.FunctionCall{Name: "lookup"}})), compaction.Failed},
		{"wants a tool first", answering(parts(&genai.Part{Text: "Let me look that up."}, &genai.Part{FunctionCall: &genai.FunctionCall{Name: "lookup"}})), compaction.Failed},
		{"returns a huge text", answering(parts(&genai.Part{Text: strings.Repeat("and so on ", 50_000)})), compaction.Declined},
		{"returns more than it was given", echo, compaction.Declined},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			run := inMemoryIn
			if variant.name == "changes what it is given" {
				run = overStorages
			}
			run(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a, f := newFickleApp(t, store, m, variant.bad)
				f.spoil(a, variant.want)
				f.mended.Store(true)
				f.recover(a)
			})
		})
	}
}

// The summarizer ignores its context, so the service must neither wait for it nor call it a second
// time while it hangs.
func TestAHangingSummarizerHarmsNoTurn(t *testing.T) {
	t.Parallel()
	inMemoryIn(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		wake := make(chan struct{})
		var calls atomic.Int32
		a, f := newFickleApp(t, store, m, summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			calls.Add(1)
			<-wake
			return summarizer.Result{}, errors.New("too late")
		}))
		f.spoil(a, compaction.Failed)
		if n := calls.Load(); n != 1 {
			t.Errorf("a hanging summarizer was called %d times at once", n)
		}
		f.mended.Store(true)
		close(wake)
		f.recover(a)
	})
}

func newFickleApp(t *testing.T, store storages.Storage, m mode, bad compaction.Summarizer) (*app, *fickle) {
	t.Helper()
	f := &fickle{bad: bad}
	a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
		f.good = cfg.Summarizer
		cfg.Summarizer = f
		cfg.Timeout = 2 * time.Second // a busy machine may keep a good summary waiting
	}))
	x := newActor(a, "assistant", "")
	a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
	return a, f
}

// spoil runs turns with the bad summarizer and checks that it has no effect except reports.
func (f *fickle) spoil(a *app, want compaction.Outcome) {
	a.t.Helper()
	x := a.actors[0]
	for i := range 16 {
		if i%4 == 0 {
			x.will(a.lookups(2))
		}
		a.chat(x, 1)
	}
	a.flush()
	if len(a.log.of(want)) == 0 || len(a.log.of(compaction.Stored)) > 0 {
		a.t.Errorf("want reports of %q and nothing stored:\n%s", want, a.log)
	}
	for _, o := range a.log.of(compaction.Failed) {
		if !errors.Is(o.Err, compaction.ErrCompaction) {
			a.t.Errorf("reported %v, which is not an ErrCompaction", o.Err)
		}
	}
	if raw, view := a.raw(), a.view(); !slices.Equal(compactiontest.IDs(raw), compactiontest.IDs(view)) {
		a.t.Errorf("the view is not the history: %d of %d events", len(view), len(raw))
	}
	a.verify(0)
}

// recover compacts manually, without waiting for the end of the back-off, and then continues.
func (f *fickle) recover(a *app) {
	a.t.Helper()
	for {
		_, err := a.svc.Compact(a.t.Context(), ref, compaction.CompactOptions{})
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "not returned yet") {
			a.t.Fatal(err)
		}
		runtime.Gosched() // the call that hung is about to return
	}
	a.chat(a.actors[0], 12)
	a.verify(2)
	automatic := slices.ContainsFunc(a.log.of(compaction.Stored), func(o compaction.Observation) bool { return o.Trigger == record.TriggerInvocations })
	if !automatic {
		a.t.Errorf("no automatic compaction after the recovery:\n%s", a.log)
	}
}

// No person has to intervene after a few failures.
func TestAFewFailuresAreRetriedAtTheNextTrigger(t *testing.T) {
	t.Parallel()
	inMemoryIn(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		failures := 2
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
			oracle := cfg.Summarizer
			cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
				if failures > 0 { // one job per session at a time
					failures--
					return summarizer.Result{}, errors.New("hiccup")
				}
				return oracle.Summarize(ctx, req)
			})
		}))
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		a.chat(x, 20)
		if n := len(a.log.of(compaction.Failed)); n != 2 {
			t.Errorf("%d failures reported, want 2", n)
		}
		a.verify(2)
	})
}

// Prompts stay within the window even if every summary fails.
func TestAtTheHardLimitAFailingSummarizerDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
			smallWindow(cfg)
			cfg.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
				return summarizer.Result{}, errors.New("quota exceeded")
			})
		}), forgetful)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		a.loop(x)
		a.chat(x, 3)
		a.verify(1)
		if x.largest > a.cfg.ContextWindow {
			t.Errorf("a prompt of %d tokens in a window of %d:\n%s", x.largest, a.cfg.ContextWindow, a.log)
		}
	})
}
