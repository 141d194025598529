package guard_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/summarizer"
)

// writer is a model that writes summaries, the first of them too long.
type writer struct{ *worker }

func (w writer) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	w.answer = func(n int, _ *model.LLMRequest) *genai.Content {
		text := "The report has twelve parts, and each of them says the same words."
		if n == 0 {
			for i := range 200 {
				text += fmt.Sprintf(" Part %d is about the words of report %d.", i, 1000+i)
			}
		}
		return said(text)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range w.worker.GenerateContent(ctx, req, stream) {
			if resp != nil {
				resp.FinishReason = genai.FinishReasonStop
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

func TestEachCallOfASummaryIsCounted(t *testing.T) {
	t.Parallel()
	llm := writer{newWorker()}
	by, err := summarizer.NewLLM(summarizer.LLMConfig{Model: llm})
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, guard.Config{Session: guard.Limits{ModelCalls: 100}}, answers(usage()))
	calls := 0
	svc, err := compaction.NewCompactionService(d.sessions, compaction.Config{
		Summarizer: by, ContextWindow: 100_000, MaxSummaryTokens: 100, Synchronous: true, Timeout: time.Minute,
		Observer: d.guard.Compactions(func(_ context.Context, o compaction.Observation) { calls += o.Answers }),
	})
	if err != nil {
		t.Fatal(err)
	}
	d.say("hi", agent.StreamingModeNone, 0)
	before := d.used().ModelCalls
	s := d.stored()
	for i := range 12 {
		ev := session.NewEventWithContext(t.Context(), fmt.Sprint("i", i))
		ev.Author, ev.Content = "user", genai.NewContentFromText(fmt.Sprint(i, strings.Repeat(" some words of a long report", 100)), genai.RoleUser)
		if i%2 == 1 {
			ev.Author, ev.Content.Role = "desk", genai.RoleModel
		}
		if err := d.sessions.AppendEvent(t.Context(), s, ev); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := svc.Compact(t.Context(), d.ref, compaction.CompactOptions{KeepEvents: 2}); err != nil {
		t.Fatal(err)
	}
	if u := d.used(); llm.calls() < 2 || u.Summaries.Calls != llm.calls() || calls != llm.calls() || u.ModelCalls != before+llm.calls() {
		t.Errorf("%d calls of the summarizer, %d observed, %+v of %d", llm.calls(), calls, u.Summaries, u.ModelCalls)
	}
}

// TestACallOfASummaryWithoutUsageIsCounted: a summarizer of the app's may know its calls and nothing else.
func TestACallOfASummaryWithoutUsageIsCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{Session: guard.Limits{ModelCalls: 4}}, answers(usage()))
	d.say("hi", agent.StreamingModeNone, 0)
	d.guard.Compactions(nil)(t.Context(), compaction.Observation{Outcome: compaction.Stored, Session: d.ref, Answers: 3})
	if u := d.used(); u.ModelCalls != 4 || u.Summaries.Calls != 3 {
		t.Errorf("%d calls, %d of them of summaries", u.ModelCalls, u.Summaries.Calls)
	}
	var stop *guard.StopError
	if _, errs := d.say("and now?", agent.StreamingModeNone, 0); !errors.As(errors.Join(errs...), &stop) || stop.Kind != guard.ModelCalls {
		t.Errorf("the run behind the limit: %v", errs)
	}
}

// mute is a writer whose model reports no usage, or that answers nothing until its time is over.
type mute struct {
	writer
	hangs bool
}

func (m mute) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if m.hangs {
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		for resp, err := range m.writer.GenerateContent(ctx, req, stream) {
			if resp != nil {
				resp.UsageMetadata = nil
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// A provider is paid whether it reports its usage or not, and whether anybody waits for its answer or not.
func TestASummaryWithoutAReportIsChargedByEstimate(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"no report": false, "given up": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by, err := summarizer.NewLLM(summarizer.LLMConfig{Model: mute{writer{newWorker()}, hangs}})
			if err != nil {
				t.Fatal(err)
			}
			d := newDesk(t, guard.Config{Session: guard.Limits{ModelCalls: 100}}, answers(usage()))
			timeout := time.Minute
			if hangs {
				timeout = 20 * time.Millisecond
			}
			svc, err := compaction.NewCompactionService(d.sessions, compaction.Config{
				Summarizer: by, ContextWindow: 100_000, MaxSummaryTokens: 2000, Synchronous: true, Timeout: timeout, Observer: d.guard.Compactions(nil),
			})
			if err != nil {
				t.Fatal(err)
			}
			d.say("hi", agent.StreamingModeNone, 0)
			s := d.stored()
			for i := range 12 {
				ev := session.NewEventWithContext(t.Context(), fmt.Sprint("i", i))
				ev.Author, ev.Content = "user", genai.NewContentFromText(fmt.Sprint(i, strings.Repeat(" some words of a long report", 100)), genai.RoleUser)
				if err := d.sessions.AppendEvent(t.Context(), s, ev); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := svc.Compact(t.Context(), d.ref, compaction.CompactOptions{KeepEvents: 2}); (err != nil) != hangs {
				t.Fatal(err)
			}
			if u := d.used(); u.Summaries.Calls == 0 || u.Summaries.Tokens.PromptTokens < 10*500 || u.Summaries.Tokens.OutputTokens == 0 {
				t.Errorf("the summary is charged with %+v", u.Summaries)
			}
			if n := d.observed(guard.Unmetered); n != 1 {
				t.Errorf("the observer was told %d times that the charge is an estimate, want once", n)
			}
		})
	}
}
