package longsession_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/budget"
)

// The budget compacts while a request is on its way, and builds it anew. The first summary may come that way, and its
// request declares what the summary names.
func TestARequestThatIsBuiltAnewDeclaresWhatItsSummaryNames(t *testing.T) {
	t.Parallel()
	for _, plugins := range []bool{true, false} {
		t.Run(fmt.Sprintf("plugins %v", plugins), func(t *testing.T) {
			t.Parallel()
			rounds := 0
			l := &listening{LLM: compactiontest.NewModel("m", func(int, *model.LLMRequest) *model.LLMResponse {
				if rounds++; rounds > 40 {
					return compactiontest.Say("Done.")
				}
				return compactiontest.CallTool("look", map[string]any{"query": fmt.Sprint("part ", rounds)})
			})}
			rebuilt := 0
			cfg := longsession.Config{Compaction: compaction.DefaultConfig(), Disable: []longsession.Layer{longsession.LayerToolResults}}
			c := &cfg.Compaction
			c.Summarizer, c.Synchronous, c.AgentModel, c.ContextWindow = &compactiontest.Oracle{}, true, "gemini-2.5-flash", 8_000
			c.TokenThreshold, c.InvocationThreshold = compaction.Off, compaction.Off
			cfg.Budget.Observer = func(_ context.Context, o budget.Observation) {
				if o.Kind == budget.Rebuilt {
					rebuilt++
				}
			}
			stack := newStack(t, cfg)
			root, err := llmagent.New(llmagent.Config{Name: "desk", Model: stack.Model(l), Tools: []tool.Tool{memo(t, "look", 1_500)}})
			if err != nil {
				t.Fatal(err)
			}
			on := runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, AutoCreateSession: true}
			if plugins {
				on.PluginConfig = stack.PluginConfig()
			}
			asks(t, on, 1)
			if err := stack.Close(t.Context()); err != nil { // observers have heard everything then
				t.Fatal(err)
			}
			named := 0
			for n, got := range l.heard {
				if got.sentence {
					named++
				}
				if got.sentence && len(got.tools) != 2 || got.summary && !got.sentence {
					t.Errorf("request %d of %d: %+v", n, len(l.heard), got)
				}
			}
			if rebuilt == 0 || named == 0 {
				t.Errorf("%d requests were built anew, and %d name recall: the test proves nothing", rebuilt, named)
			}
		})
	}
}
