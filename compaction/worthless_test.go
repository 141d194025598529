package compaction_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// worthlessAnswers are texts that must never stand in for a conversation.
var worthlessAnswers = map[string]string{
	"a letter": "a", "dots": "...", "JSON": `{"summary": null}`, "a refusal": "I'm sorry, I can't help with that.",
	"a heading": "Summary:", "a loop": strings.Repeat("and so on ", 20), "nothing": "N/A",
}

func answeringWith(text string) compaction.Summarizer {
	return summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) { return prose(text), nil })
}

// TestWorthlessSummaryIsAFailure: of every summarizer, an app's own and one that asks a model. The
// history stays as it is, and a summarizer that recovers is asked again.
func TestWorthlessSummaryIsAFailure(t *testing.T) {
	t.Parallel()
	for name, text := range worthlessAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, asks := range []string{"own", "model"} {
				seen := &notes{}
				cfg, _ := oracleConfig()
				cfg.Summarizer, cfg.Observer = answeringWith(text), seen.Observe
				if asks == "model" {
					cfg.Summarizer, cfg.Model = nil, answeringModel(func(string) string { return text })
				}
				svc := newService(t, session.InMemoryService(), cfg)
				sess := create(t, svc)
				events := turns(9)
				appendAll(t, svc, sess, events...)
				failed := seen.of(compaction.Failed)
				if len(failed) == 0 || !errors.Is(failed[0].Err, summarizer.ErrUnusable) || len(seen.of(compaction.Stored)) > 0 {
					t.Errorf("%s: observed %+v", asks, seen.all())
				}
				if view := eventsOf(sess); len(view) != len(events) {
					t.Errorf("%s: %d of %d events are shown", asks, len(view), len(events))
				}
				wantFacts(t, eventsOf(sess), 9)
				checkView(t, svc)
			}
		})
	}
}

// TestWorthlessSummaryIsReplacedAtTheHardLimit: the extractive summarizer writes instead, and no fact
// is gone that it could keep.
func TestWorthlessSummaryIsReplacedAtTheHardLimit(t *testing.T) {
	t.Parallel()
	for name, text := range worthlessAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &notes{}
			cfg, _ := oracleConfig()
			cfg.Summarizer, cfg.Observer = answeringWith(text), seen.Observe
			cfg.InvocationThreshold, cfg.ContextWindow = 0, 2000
			svc := newService(t, session.InMemoryService(), cfg)
			sess := create(t, svc)
			const n = 120
			appendAll(t, svc, sess, turns(n)...)
			st := status(t, svc)
			if st.PromptTokens >= st.HardLimit || len(st.Summaries) == 0 {
				t.Errorf("a prompt of %d tokens, hard limit %d, %d summaries", st.PromptTokens, st.HardLimit, len(st.Summaries))
			}
			if len(seen.of(compaction.Failed)) == 0 || len(seen.of(compaction.Stored)) == 0 {
				t.Fatalf("%d failed, %d stored: the test shows nothing", len(seen.of(compaction.Failed)), len(seen.of(compaction.Stored)))
			}
			shown := render(eventsOf(sess))
			if strings.Contains(shown, text) && len(text) > 5 {
				t.Errorf("the view shows %q", text)
			}
			checkView(t, svc)
		})
	}
}

// TestWorthlessSummaryByHandSaysSo: Compact and Checkpoint return the failure.
func TestWorthlessSummaryByHandSaysSo(t *testing.T) {
	t.Parallel()
	for name, text := range worthlessAnswers {
		cfg, _ := oracleConfig()
		cfg.Summarizer, cfg.InvocationThreshold, cfg.SafetyRatio = answeringWith(text), 0, 0
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		events := turns(9)
		appendAll(t, svc, sess, events...)
		for kind, byHand := range map[string]func() (compaction.CompactResult, error){
			"compact": func() (compaction.CompactResult, error) {
				return svc.Compact(t.Context(), ref, compaction.CompactOptions{})
			},
			"checkpoint": func() (compaction.CompactResult, error) {
				return svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: "Done."})
			},
		} {
			got, err := byHand()
			if !errors.Is(err, compaction.ErrCompaction) || !errors.Is(err, summarizer.ErrUnusable) || !got.Skipped || got.AfterEvents != len(events) {
				t.Errorf("%s, %s: %+v, %v", name, kind, got, err)
			}
		}
	}
}

// TestWorthlessMergeKeepsBothSummaries: what two summaries stood for is not given up for a refusal.
func TestWorthlessMergeKeepsBothSummaries(t *testing.T) {
	t.Parallel()
	oracle, seen := &compactiontest.Oracle{}, &notes{}
	cfg, _ := oracleConfig()
	cfg.MaxSummaries, cfg.Observer = 2, seen.Observe
	cfg.Summarizer = summarizerFunc(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		if len(req.Summaries) > 0 {
			return prose("I'm sorry, but I can't merge these summaries. I can't help with that."), nil
		}
		return oracle.Summarize(ctx, req)
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(40)...)
	if len(seen.of(compaction.Stored)) < 2 || len(seen.of(compaction.Failed)) == 0 {
		t.Fatalf("observed %+v", seen.all())
	}
	wantFacts(t, eventsOf(sess), 40)
	wantCoveredOnce(t, svc)
	checkView(t, svc)
}

// TestSummaryIsJudgedByWhatIsStored: a summarizer may change the request it was given. Its answer, a
// refusal that seems to keep a value, is judged by the stored events all the same.
func TestSummaryIsJudgedByWhatIsStored(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.Observer = seen.Observe
	cfg.Summarizer = summarizerFunc(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		for _, ev := range req.Events {
			ev.Content.Parts[0].Text = "The code is CODE-77."
		}
		return prose("I can't help with CODE-77."), nil
	})
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(9)...)
	if len(seen.of(compaction.Failed)) == 0 || len(seen.of(compaction.Stored)) > 0 {
		t.Errorf("observed %+v", seen.all())
	}
	wantFacts(t, eventsOf(sess), 9)
}
