package integration_test

import (
	"fmt"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The configurations compact as often as possible, keep as few raw events or summaries as possible,
// or combine both triggers.
func TestExtremeConfigsLoseNothing(t *testing.T) {
	t.Parallel()
	for i, variant := range []struct {
		name   string
		change func(*compaction.Config)
	}{
		{"one summary", func(cfg *compaction.Config) { cfg.MaxSummaries = 1 }},
		{"two summaries", func(cfg *compaction.Config) { cfg.MaxSummaries = 2 }},
		{"every turn", func(cfg *compaction.Config) { cfg.InvocationThreshold, cfg.OverlapSize = 1, 1 }},
		{"every turn, one summary, both triggers", func(cfg *compaction.Config) {
			smallWindow(cfg)
			cfg.InvocationThreshold, cfg.OverlapSize, cfg.MaxSummaries, cfg.RetainEvents = 1, 1, 1, 1
		}},
		{"two summaries, both triggers", func(cfg *compaction.Config) {
			smallWindow(cfg)
			cfg.MaxSummaries, cfg.RetainEvents = 2, 3
		}},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			modes := []mode{synchronous, flushed, reopened}
			if !testkit.Whole() {
				modes = modes[i%len(modes):][:1]
			}
			inMemoryIn(t, modes, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m, withConfig(variant.change))
				x := newActor(a, "assistant", "")
				a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
				for i := range 40 {
					for range i % 6 {
						x.will(a.lookups(1 + i%2))
					}
					a.chat(x, 1)
				}
				a.verify(8)
				status, err := a.svc.Status(t.Context(), ref)
				// The rounds of the newest turn may have their own summary until the next window.
				if err != nil || len(status.Summaries) > max(2, a.cfg.MaxSummaries) {
					t.Errorf("%d summaries, want at most %d; error %v", len(status.Summaries), a.cfg.MaxSummaries, err)
				}
			})
		})
	}
}

// An event that Config.Pin selects is unchanged in every prompt, and does not keep other events
// from being summarized.
func TestPinnedEventsStayRaw(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
			cfg.Pin = func(ev *session.Event) bool {
				return ev.Content != nil && len(ev.Content.Parts) > 0 && ev.Content.Parts[0].Text == "Never forget this."
			}
		}))
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		a.chat(x, 4)
		x.will(answer())
		a.question = "Never forget this."
		a.send(genai.NewContentFromText(a.question, genai.RoleUser))
		a.chat(x, 20)
		found := 0
		for _, c := range x.lastRequest() {
			if c.Parts[0].Text == "Never forget this." {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the prompt has the pinned message %d times", found)
		}
		a.verify(3)
	})
}

// A turn of many tool rounds follows many turns of chat, with few summaries allowed. The agent's
// own tool calls after the question must not include past turns, and the past must stay before the
// question.
func TestSummariesOfALiveTurnAreNotMixedWithThePast(t *testing.T) {
	t.Parallel()
	for limit := 1; limit <= 3; limit++ {
		for _, include := range []llmagent.IncludeContents{llmagent.IncludeContentsDefault, llmagent.IncludeContentsNone} {
			t.Run(fmt.Sprintf("at most %d, include %s", limit, include), func(t *testing.T) {
				t.Parallel()
				inMemoryIn(t, []mode{synchronous}, func(t *testing.T, store storages.Storage, m mode) {
					a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
						smallWindow(cfg)
						cfg.MaxSummaries = limit
					}))
					x := newActor(a, "assistant", "")
					if include == llmagent.IncludeContentsNone {
						x.scope = currentTurn
					}
					a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools, cfg.IncludeContents = []tool.Tool{a.lookup()}, include }))
					a.chat(x, 8)
					a.loop(x)
					a.checkLoop(x)
					a.chat(x, 8)
					a.verify(6)
				})
			})
		}
	}
}
