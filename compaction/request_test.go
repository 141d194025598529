package compaction_test

import (
	"fmt"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/tokens"
)

// truncate stands for a layer that cuts results on their way to the model. Requests are ADK's own copies
// of the contents, but share the responses, so the parts are replaced.
func truncate(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	for i, c := range req.Contents {
		short := &genai.Content{Role: c.Role}
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				response := *p.FunctionResponse
				response.Response = map[string]any{"output": "cut"}
				p = &genai.Part{FunctionResponse: &response}
			}
			short.Parts = append(short.Parts, p)
		}
		req.Contents[i] = short
	}
	return nil, nil
}

type lookupArgs struct {
	Item string `json:"item" jsonschema:"what to look up"`
}

type lookupResult struct {
	Output string `json:"output"`
}

// lookupTool returns a tool whose results take some 2,700 tokens.
func lookupTool(t *testing.T) tool.Tool {
	t.Helper()
	lookup, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "Looks an item up."},
		func(_ agent.ToolContext, args lookupArgs) (lookupResult, error) {
			return lookupResult{words(2_000)}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return lookup
}

// playTruncated plays turns with large tool results that are cut in front of a model without usage. It
// returns the largest prompt that was sent and what the service did.
func playTruncated(t *testing.T, turns int, observe bool) (largest int, seen *notes, svc *compaction.CompactionSessionService) {
	t.Helper()
	calls := 0
	llm := compactiontest.NewModel("house-llm", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		largest = max(largest, tokens.OfContents(req.Contents))
		if calls++; calls%2 == 1 {
			return compactiontest.CallTool("lookup", map[string]any{"item": "x"})
		}
		return compactiontest.Say("It is there.")
	})
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: llm, Tools: []tool.Tool{lookupTool(t)}})
	if err != nil {
		t.Fatal(err)
	}
	seen, svc = playWithCuts(t, root, turns, observe)
	return largest, seen, svc
}

// playWithCuts plays turns of an agent whose requests a plugin cuts, and returns what the service did. With observe it
// hears of the cuts.
func playWithCuts(t *testing.T, root agent.Agent, turns int, observe bool) (*notes, *compaction.CompactionSessionService) {
	t.Helper()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer = compaction.Off, 16_000, seen.Observe
	svc := newService(t, session.InMemoryService(), cfg)
	callbacks := []llmagent.BeforeModelCallback{truncate}
	if observe {
		callbacks = append(callbacks, svc.ObserveRequest)
	}
	var plugins []*plugin.Plugin
	for i, callback := range callbacks {
		p, err := plugin.New(plugin.Config{Name: fmt.Sprint("p", i), BeforeModelCallback: callback})
		if err != nil {
			t.Fatal(err)
		}
		plugins = append(plugins, p)
	}
	r, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: root, SessionService: svc, AutoCreateSession: true, PluginConfig: runner.PluginConfig{Plugins: plugins},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		msg := genai.NewContentFromText(fmt.Sprint("Look up item ", i, "."), genai.RoleUser)
		for _, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, msg, agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return seen, svc
}

// Whatever a layer cuts from a request was not sent, and is no reason to compact.
func TestWhatALayerCutsFromRequestsIsNotCompacted(t *testing.T) {
	t.Parallel()
	const turns = 30
	largest, seen, _ := playTruncated(t, turns, false)
	if largest > 5_000 || len(seen.of(compaction.Stored)) == 0 {
		t.Fatalf("prompts of up to %d tokens, %d compactions without being told: the test shows nothing", largest, len(seen.of(compaction.Stored)))
	}
	largest, seen, svc := playTruncated(t, turns, true)
	if n := len(seen.of(compaction.Stored)); n > 0 || largest > 5_000 {
		t.Errorf("%d compactions for prompts of up to %d tokens in a window of 16,000", n, largest)
	}
	if got := status(t, svc); got.PromptTokens < largest || got.PromptTokens > 2*largest {
		t.Errorf("the prompt is taken for %d tokens, the last one had %d", got.PromptTokens, largest)
	}
}

// After a long session the cut prompt itself is over the threshold, and is compacted.
func TestWhatIsLeftOfRequestsIsCompactedInTime(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "a long session in one goroutine")
	largest, seen, svc := playTruncated(t, 700, true)
	if n := len(seen.of(compaction.Stored)); n == 0 || largest > 16_000 {
		t.Errorf("%d compactions, prompts of up to %d tokens in a window of 16,000", n, largest)
	}
	checkView(t, svc)
}
