package integration_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// writer is the model that writes the summaries and keeps all facts of its prompt. It counts its
// own calls, which shows that an agent's model is not used for summaries.
type writer struct {
	t     *testing.T
	calls atomic.Int32
	// spoiled answers instead, if not nil.
	spoiled func(yield func(*model.LLMResponse, error) bool)
}

func (w *writer) Name() string { return "model-that-writes-summaries" }

func (w *writer) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		w.calls.Add(1)
		if n := len(req.Contents); n == 0 || req.Contents[n-1].Role != genai.RoleUser {
			w.t.Error("a request for a summary does not end with a user's message: providers reject it")
		}
		if len(req.Tools) > 0 || req.Config != nil && len(req.Config.Tools) > 0 {
			w.t.Error("a request for a summary carries tools")
		}
		if w.spoiled != nil {
			w.spoiled(yield)
			return
		}
		yield(compactiontest.Say("Facts: "+strings.Join(histories.FactsInContents(req.Contents), " ")), nil)
	}
}

// The service is configured with a model, the usual setup.
func TestAModelWritesTheSummaries(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		w := &writer{t: t}
		a := newModelApp(t, store, m, w)
		x := a.actors[0]
		for i := range 30 {
			if i%3 == 0 {
				x.will(a.lookups(2))
			}
			a.chat(x, 1)
		}
		a.verify(4)
		if w.calls.Load() == 0 {
			t.Error("the model was never called")
		}
	})
}

// The model misbehaves in every possible way.
func TestABadModelHarmsNoTurn(t *testing.T) {
	t.Parallel()
	for name, spoiled := range map[string]func(yield func(*model.LLMResponse, error) bool){
		"fails":               func(yield func(*model.LLMResponse, error) bool) { yield(nil, errors.New("quota exceeded")) },
		"panics":              func(func(*model.LLMResponse, error) bool) { panic("oops") },
		"says nothing":        func(func(*model.LLMResponse, error) bool) {},
		"returns nil":         func(yield func(*model.LLMResponse, error) bool) { yield(nil, nil) },
		"is cut off":          saying(&model.LLMResponse{Content: genai.NewContentFromText("The first", genai.RoleModel), FinishReason: genai.FinishReasonMaxTokens}),
		"is blocked":          saying(&model.LLMResponse{ErrorCode: "SAFETY", ErrorMessage: "blocked", FinishReason: genai.FinishReasonSafety}),
		"returns only a part": saying(&model.LLMResponse{Content: genai.NewContentFromText("The first", genai.RoleModel), Partial: true}),
		"is blank":            saying(compactiontest.Say(" \n ")),
		"calls a tool":        saying(compactiontest.CallTool("lookup", map[string]any{"n": 1})),
		"says too much":       saying(compactiontest.Say(strings.Repeat("and so on ", 50_000))),
		"fails after a first part": func(yield func(*model.LLMResponse, error) bool) {
			if yield(compactiontest.Say("The first"), nil) {
				yield(nil, errors.New("connection reset"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inMemoryIn(t, []mode{synchronous}, func(t *testing.T, store storages.Storage, m mode) {
				w := &writer{t: t, spoiled: spoiled}
				a := newModelApp(t, store, m, w)
				a.chat(a.actors[0], 12)
				if w.calls.Load() == 0 {
					t.Error("the model was never called")
				}
				if n := len(a.log.of(compaction.Stored)); n > 0 {
					t.Errorf("%d summaries were stored:\n%s", n, a.log)
				}
				a.verify(0)
				w.spoiled = nil
				a.compactAll()
				a.chat(a.actors[0], 2)
				a.verify(1)
			})
		})
	}
}

func saying(resp *model.LLMResponse) func(yield func(*model.LLMResponse, error) bool) {
	return func(yield func(*model.LLMResponse, error) bool) { yield(resp, nil) }
}

func newModelApp(t *testing.T, store storages.Storage, m mode, w *writer) *app {
	t.Helper()
	a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
		cfg.Summarizer, cfg.Model, cfg.Timeout = nil, w, 10*time.Second
	}))
	x := newActor(a, "assistant", "")
	return a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
}
