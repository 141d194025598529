package guard_test

import (
	"context"
	"iter"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// rounds is a model that calls the tool "work" a number of times, and then answers.
type rounds struct{ left int }

func (*rounds) Name() string { return testModel }

func (r *rounds) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		content := said("done")
		if r.left--; r.left >= 0 {
			content = asks("work", map[string]any{"n": r.left})
		}
		yield(&model.LLMResponse{Content: content, UsageMetadata: usage()}, nil)
	}
}

// BenchmarkModelCalls runs turns of 50 model calls, bare and with a guard. The difference of the two figures is
// the guard's part of a call.
func BenchmarkModelCalls(b *testing.B) {
	const calls = 50
	for _, guarded := range []bool{false, true} {
		name := map[bool]string{false: "bare", true: "guard"}[guarded]
		b.Run(name, func(b *testing.B) {
			limits := guard.Limits{USD: tokens.Dollar, ModelCalls: 1 << 40, Tokens: 1 << 40}
			g, err := guard.New(guard.Config{Turn: limits, Session: guard.Limits{USD: 1000 * tokens.Dollar}, Registry: registry(b)})
			if err != nil {
				b.Fatal(err)
			}
			r := &rounds{}
			c := llmagent.Config{Name: "desk", Model: r, Tools: []tool.Tool{work(b)}}
			var plugins []*plugin.Plugin
			if guarded {
				c.Model, plugins = g.Model(r), []*plugin.Plugin{g.Plugin()}
			}
			a, err := llmagent.New(c)
			if err != nil {
				b.Fatal(err)
			}
			var bytes, events int
			for b.Loop() {
				b.StopTimer()
				sessions := session.InMemoryService()
				run, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: sessions, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: plugins}})
				if err != nil {
					b.Fatal(err)
				}
				r.left = calls - 1
				b.StartTimer()
				for ev, err := range run.Run(b.Context(), "u", "s", genai.NewContentFromText("hi", genai.RoleUser), agent.RunConfig{}) {
					if err != nil {
						b.Fatal(err)
					}
					if text, is := ev.Actions.StateDelta[guard.StateKey].(string); is {
						bytes, events = bytes+len(text), events+1
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/calls, "µs/call")
			b.ReportMetric(float64(bytes)/float64(b.N)/calls, "state-B/call")
		})
	}
}
