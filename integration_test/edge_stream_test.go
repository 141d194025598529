package integration_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// streaming is a model that streams its text word by word and then sends it complete, with usage,
// as a provider does.
type streaming struct{ model.LLM }

func (s streaming) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for whole, err := range s.LLM.GenerateContent(ctx, req, stream) {
			if err == nil && stream && whole.Content.Parts[0].Text != "" {
				for _, word := range strings.SplitAfter(whole.Content.Parts[0].Text, " ") {
					if !yield(&model.LLMResponse{Content: genai.NewContentFromText(word, genai.RoleModel), Partial: true}, nil) {
						return
					}
				}
			}
			if !yield(whole, err) {
				return
			}
		}
	}
}

// witness is a plugin that receives every event, including partial ones, before the runner stores
// it.
func witness(t *testing.T, see func(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error)) *plugin.Plugin {
	t.Helper()
	p, err := plugin.New(plugin.Config{Name: "witness", OnEventCallback: see})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A streamed answer arrives in pieces. No piece is stored, changes the runner's view or counts as a
// turn.
func TestPartialEventsAreNeitherStoredNorShown(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, background, reopened, layered}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		a.runConfig.StreamingMode = agent.StreamingModeSSE
		pieces := 0
		var shown []string
		a.plugins = []*plugin.Plugin{witness(t, func(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
			now := compactiontest.IDs(eventsOf(ctx.Session()))
			if ev.Partial {
				pieces++
				// A background job may change the view between two pieces.
				if m != background && shown != nil && !slices.Equal(shown, now) {
					t.Errorf("a piece changed the view:\n%v\n%v", shown, now)
				}
				// The runner does not append pieces, but other code might.
				if err := a.svc.AppendEvent(ctx, ctx.Session(), ev); err != nil {
					t.Error(err)
				}
				now = compactiontest.IDs(eventsOf(ctx.Session()))
				if slices.Contains(now, ev.ID) {
					t.Errorf("the view shows piece %s", ev.ID)
				}
			}
			shown = now
			if !ev.Partial {
				shown = nil // the complete answer is stored next
			}
			return nil, nil
		})}
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) {
			cfg.Model, cfg.Tools = a.inLayers(streaming{x.model}), []tool.Tool{a.lookup()}
		}))
		for i := range m.turns(store, 30) {
			if i%3 == 0 {
				x.will(a.lookups(2))
			}
			a.chat(x, 1)
		}
		if pieces < 8*a.turns {
			t.Errorf("%d pieces in %d turns: nothing was streamed", pieces, a.turns)
		}
		for _, ev := range a.raw() {
			if ev.Partial {
				t.Errorf("piece %s is stored", ev.ID)
			}
		}
		a.verify(a.turns / 8)
	})
}

// The consumer stops after some pieces, so that the complete answer is never stored. The question
// stays, and the session continues.
func TestAStreamThatIsLeftMidwayLosesNoTurn(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, layered}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		a.runConfig.StreamingMode = agent.StreamingModeSSE
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Model = a.inLayers(streaming{x.model}) }))
		for i := range 24 {
			if i%4 != 3 {
				a.chat(x, 1)
				continue
			}
			x.will(answer())
			a.leave(3)
		}
		a.chat(x, 2)
		a.verify(3)
	})
}

// leave asks a question and stops after n pieces of the answer.
func (a *app) leave(n int) {
	a.t.Helper()
	fact := compactiontest.Fact(a.ledger.number())
	a.ledger.nextTurn()
	a.ledger.tell(fact, "", "user")
	a.question = "Please note " + fact + ", I have to go."
	msg := genai.NewContentFromText(a.question, genai.RoleUser)
	a.history = append(a.history, storedMessage(msg))
	for ev, err := range a.runner.Run(a.t.Context(), ref.UserID, ref.SessionID, msg, a.runConfig) {
		if err != nil {
			a.t.Fatal(err)
		}
		if !ev.Partial {
			a.t.Fatal("the answer came whole")
		}
		if n--; n == 0 {
			return
		}
	}
}
