package compaction_test

import (
	"context"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestNoPromptExceedsTheWindowWhileTheModelFails: at the hard limit the extractive summarizer steps in,
// round after round, and the failing model is not asked in every one.
func TestNoPromptExceedsTheWindowWhileTheModelFails(t *testing.T) {
	t.Parallel()
	for name, writer := range map[string]compaction.Summarizer{
		"error": summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			return summarizer.Result{}, errBoom
		}),
		"panic":               summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) { panic("boom") }),
		"what it was given":   hostileAnswers["what it was given, twice"],
		"nothing to speak of": summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) { return prose(" "), nil }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const rounds = 150
			seen := &notes{}
			cfg, _ := oracleConfig()
			cfg.Summarizer, cfg.Observer = writer, seen.Observe
			cfg.InvocationThreshold, cfg.ContextWindow = compaction.Off, 16_000
			svc := newService(t, session.InMemoryService(), cfg)
			l := newLoop(t, svc, costly)
			l.run(rounds)
			if l.largest > cfg.ContextWindow {
				t.Errorf("a prompt of %d tokens went out, the window is %d", l.largest, cfg.ContextWindow)
			}
			stored, failed := seen.of(compaction.Stored), len(seen.of(compaction.Failed))+len(seen.of(compaction.Declined))
			if len(stored) < 10 || failed == 0 {
				t.Fatalf("%d compactions, %d in vain: the test shows nothing", len(stored), failed)
			}
			if failed > rounds/2 {
				t.Errorf("%d attempts in vain in %d rounds", failed, rounds)
			}
			wantOnce(t, svc, l.history.Events)
			wantCoveredOnce(t, svc)
			checkView(t, svc)
		})
	}
}
