package budget

import (
	"context"
	"iter"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

func TestPinACustomAgentIsOfAnotherTypeThanOneWithAModel(t *testing.T) {
	t.Parallel()
	custom := must(agent.New(agent.Config{Name: "custom", Run: func(agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(func(*session.Event, error) bool) {}
	}}))
	if !adk.IsCustom(custom) {
		t.Errorf("%T is not seen as custom", custom)
	}
	var inRun agent.Agent
	inner := &script{t: t, name: "test-model", plan: answers{says("done")}, inspect: func(ctx context.Context, _ *model.LLMRequest, _ bool) {
		inRun = ctx.(agent.InvocationContext).Agent()
	}}
	newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "agent", Model: inner})).mustAsk("go on")
	if inRun == nil || adk.IsCustom(inRun) {
		t.Errorf("%T is seen as custom", inRun)
	}
}

// calling returns an agent of the app's own that calls a model with a request of its own, and counts its
// runs.
func calling(llm model.LLM, req *model.LLMRequest, runs *int) agent.Agent {
	return must(agent.New(agent.Config{Name: "custom", Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			*runs++
			for resp, err := range llm.GenerateContent(ctx, req, false) {
				ev := session.NewEventWithContext(ctx, ctx.InvocationID())
				if resp != nil {
					ev.LLMResponse = *resp
				}
				if !yield(ev, err) {
					return
				}
			}
		}
	}}))
}

func masksIn(req *model.LLMRequest) (n int) {
	for _, content := range req.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil && toolresult.IsMasked(part.FunctionResponse.Response) {
				n++
			}
		}
	}
	return n
}

// Nobody would run read_result for such a request, and the app may keep its contents.
func TestARequestOfTheAppItselfIsSentAsItIs(t *testing.T) {
	t.Parallel()
	results := store.NewMemory(0)
	svc, log := newSessions(t), &journal{}
	m := newMeter(t, Config{
		ContextWindow: 32_000, Compactor: svc, Observer: log.Observe, Masker: newMasker(t), Store: results, Cutter: must(toolresult.New(toolresult.Config{Readable: true})),
		ReadResult: must(toolresult.ReadResult(results, toolresult.ReadOptions{})),
	}, log)
	want := photograph(t, rounds(40, 400))
	for name, call := range map[string]func(model.LLM, *model.LLMRequest){
		"without an agent": func(llm model.LLM, req *model.LLMRequest) { _, _ = once(t, llm, req) },
		"by an agent of the app": func(llm model.LLM, req *model.LLMRequest) {
			newChat(t, svc, calling(llm, req, new(int)), m.Plugin()).mustAsk("go on")
		},
	} {
		inner := &script{t: t, name: "test-model", plan: answers{says("done")}}
		call(m.Model(inner), rounds(40, 400))
		if got := inner.request(0); got != want {
			t.Errorf("%s: sent was\n%.300s, want\n%.300s", name, got, want)
		}
	}
}

// A custom agent may do anything before it calls a model, so it must not run twice.
func TestAnAgentOfTheAppIsNotRunAgain(t *testing.T) {
	t.Parallel()
	svc, log, runs := newSessions(t), &journal{}, 0
	m := newMeter(t, Config{ContextWindow: 4000, Compactor: svc, Observer: log.Observe, Masker: newMasker(t)}, log)
	inner := &script{t: t, name: "test-model", plan: answers{says("done")}, inspect: strict(t)}
	req := rounds(40, 400)
	kept := req.Contents
	newChat(t, svc, calling(m.Model(inner), req, &runs), m.Plugin()).mustAsk("go on")
	if runs != 1 || inner.calls() != 1 || len(log.of(Blocked)) != 1 || len(log.of(Rebuilt)) > 0 {
		t.Errorf("%d runs, %d calls\n%s", runs, inner.calls(), log)
	}
	if n := masksIn(&model.LLMRequest{Contents: kept}); n > 0 {
		t.Errorf("%d results are masked in the app's own contents", n)
	}
}

// The reply must be JSON, so the model cannot call a tool.
func TestResultsStayWholeWhereNothingCanReadThem(t *testing.T) {
	t.Parallel()
	results := store.NewMemory(0)
	for name, schema := range map[string]*genai.Schema{"can read": nil, "cannot": {Type: genai.TypeObject}} {
		m := newMeter(t, Config{ContextWindow: 32_000, Masker: newMasker(t), Store: results, ReadResult: must(toolresult.ReadResult(results, toolresult.ReadOptions{}))})
		inner := &script{t: t, name: "test-model", plan: answers{says("done")}}
		masked := 0
		inner.inspect = func(_ context.Context, req *model.LLMRequest, _ bool) { masked = masksIn(req) }
		newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{
			Name: "agent", Model: m.Model(inner), BeforeModelCallbacks: []llmagent.BeforeModelCallback{
				func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
					req.Contents = append(rounds(30, 400).Contents, req.Contents...)
					req.Config.ResponseSchema = schema
					return nil, nil
				},
			},
		})).mustAsk("go on")
		if (masked > 0) != (schema == nil) {
			t.Errorf("%s: %d results are masked", name, masked)
		}
	}
}
