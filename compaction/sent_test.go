package compaction_test

import (
	"context"
	"fmt"
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
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// masking is a wrapper of a model that masks all but the newest results of each request, tells the service
// what it sent, and counts prompts as a provider does: a fifth more than the estimate, and 900 for the rest.
type masking struct {
	model.LLM
	svc    func() *compaction.CompactionSessionService
	keep   int // results; negative: all
	counts []int
}

func (m *masking) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	masked, seen := 0, 0
	for i := len(req.Contents) - 1; i >= 0; i-- {
		for k, part := range req.Contents[i].Parts {
			if part.FunctionResponse == nil {
				continue
			}
			if seen++; m.keep < 0 || seen <= m.keep {
				continue
			}
			response := *part.FunctionResponse
			response.Response = map[string]any{"result": "[result masked]"}
			masked += tokens.OfPart(part)
			req.Contents[i].Parts[k] = &genai.Part{FunctionResponse: &response}
			masked -= tokens.OfPart(req.Contents[i].Parts[k])
		}
	}
	if ic, ok := ctx.(agent.InvocationContext); ok {
		m.svc().ObserveSent(ic, req, masked)
	}
	contents, _ := promptsize.OfRequest(req)
	count := contents*6/5 + 900
	m.counts = append(m.counts, count)
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range m.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil {
				resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(count), CandidatesTokenCount: 12}
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// playMasked plays turns with a tool result of some 1,300 tokens each. after is called after each turn.
func playMasked(t *testing.T, turns, keep int, after func(svc *compaction.CompactionSessionService, m *masking)) *notes {
	t.Helper()
	lookup, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "Looks an item up."},
		func(agent.ToolContext, lookupArgs) (lookupResult, error) { return lookupResult{words(1_000)}, nil })
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	var svc *compaction.CompactionSessionService
	llm := &masking{keep: keep, svc: func() *compaction.CompactionSessionService { return svc },
		LLM: compactiontest.NewModel("house-llm", func(int, *model.LLMRequest) *model.LLMResponse {
			if calls++; calls%2 == 1 {
				return compactiontest.CallTool("lookup", map[string]any{"item": "x"})
			}
			return compactiontest.Say("It is there. " + words(100))
		})}
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: llm, Tools: []tool.Tool{lookup}})
	if err != nil {
		t.Fatal(err)
	}
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.MaxOutputTokens, cfg.Observer = compaction.Off, 32_000, compaction.Off, seen.Observe
	svc = newService(t, session.InMemoryService(), cfg)
	observe, err := plugin.New(plugin.Config{Name: "observe", BeforeModelCallback: svc.ObserveRequest})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName: ref.AppName, Agent: root, SessionService: svc, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{observe}},
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
		after(svc, llm)
	}
	return seen
}

// TestWhatMaskingTookAwayIsNotCompacted: without masking the prompts of 60 turns fill the window of 32,000
// several times; with it they grow by what was said, and that alone sets off the trigger.
func TestWhatMaskingTookAwayIsNotCompacted(t *testing.T) {
	t.Parallel()
	const turns, threshold = 60, 22_400
	whole := len(playMasked(t, turns, -1, func(*compaction.CompactionSessionService, *masking) {}).of(compaction.Stored))
	if whole < 3 {
		t.Fatalf("%d compactions without masking: the test shows nothing", whole)
	}
	before := 0
	seen := playMasked(t, 2*turns, 2, func(svc *compaction.CompactionSessionService, m *masking) {
		last := m.counts[len(m.counts)-1]
		if last > threshold+2_000 {
			t.Errorf("a prompt of %d tokens was sent, over the threshold of %d", last, threshold)
		}
		// The fit is right: the next prompt is expected to be what the provider counts, and an answer.
		if got := status(t, svc).PromptTokens; got < last || got > last+1_000 {
			t.Errorf("after a prompt of %d tokens the next one is taken for %d", last, got)
		}
		before = max(before, last)
	})
	stored := len(seen.of(compaction.Stored))
	if stored == 0 || stored > whole {
		t.Errorf("%d compactions with masking in %d turns, %d without it in %d", stored, 2*turns, whole, turns)
	}
	if before < threshold*9/10 {
		t.Errorf("compacted although no prompt had more than %d of %d tokens", before, threshold)
	}
}
