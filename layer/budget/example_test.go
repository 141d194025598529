package budget_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/summarizer"
)

// small is a model with a window of 2,000 tokens that says so, as a provider does.
type small struct{ calls int }

func (*small) Name() string { return "small" }

func (s *small) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		s.calls++
		if len(req.Contents) > 12 {
			yield(nil, errors.New("prompt is too long: 2600 tokens > 2000 maximum"))
			return
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText("All files are read.", genai.RoleModel)}, nil)
	}
}

// The provider refuses the request as too long. The meter drops the oldest tool rounds, and sends it once
// more. With a Compactor and a Masker it would summarize and mask first.
func ExampleMeter_Model() {
	meter, err := budget.New(budget.Config{ContextWindow: 8000})
	if err != nil {
		log.Fatal(err)
	}
	provider := &small{}
	llm := meter.Model(provider)

	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Read all files.", genai.RoleUser)}}
	for i := range 8 {
		req.Contents = append(req.Contents,
			genai.NewContentFromFunctionCall("read", map[string]any{"file": i}, genai.RoleModel),
			genai.NewContentFromFunctionResponse("read", map[string]any{"output": strings.Repeat("text ", 300)}, genai.RoleUser))
	}
	for resp, err := range llm.GenerateContent(context.Background(), req, false) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(resp.Content.Parts[0].Text)
	}
	fmt.Println(provider.calls, "calls")
	fmt.Println(req.Contents[0].Parts[0].Text)
	// Output:
	// All files are read.
	// 2 calls
	// [conversation truncated — 6 older messages omitted]
}

func ExampleThresholds() {
	b := budget.Budget{Total: 128_000, MaxOutputTokens: 8_000, SystemPrompt: 4_000, ToolDescriptions: 6_000, Conversation: 80_000}
	fmt.Printf("%d of %d tokens, %.0f%%\n", b.UsedTokens(), b.EffectiveWindow(), 100*b.UsedPercentage())
	fmt.Println(budget.Standard.ShouldCompact(b), budget.Early.ShouldCompact(b))
	// Output:
	// 90000 of 120000 tokens, 75%
	// false true
}

func ExampleTracker() {
	var tracker budget.Tracker
	for range 4 {
		tracker.Record(500, 300)
	}
	tracker.Record(1_200, 850)
	fmt.Println(tracker.Report())
	// Output: Turn 5 | Input: 1200, Output: 850 | Avg/turn: 1050 | Total: 5250
}

// The session is compacted before a request that would be over Block is built. Nothing of the agent runs twice.
func ExampleMeter_Ahead() {
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: &summarizer.Extractive{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off,
	})
	if err != nil {
		log.Fatal(err)
	}
	meter, err := budget.New(budget.Config{ContextWindow: 2000, Compactor: sessions, Observer: func(_ context.Context, o budget.Observation) {
		if o.Kind == budget.CompactedAhead || o.Kind == budget.Rebuilt {
			fmt.Println(o.Kind)
		}
	}})
	if err != nil {
		log.Fatal(err)
	}
	assistant, err := llmagent.New(llmagent.Config{
		Name:                "assistant",
		Model:               meter.Model(&small{}),
		InstructionProvider: meter.Ahead(budget.Instruction("Answer in one sentence.")),
	})
	if err != nil {
		log.Fatal(err)
	}
	app, err := runner.New(runner.Config{AppName: "app", Agent: assistant, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		log.Fatal(err)
	}
	for range 6 {
		question := genai.NewContentFromText(strings.Repeat("A long question. ", 70), genai.RoleUser)
		for _, err := range app.Run(context.Background(), "user", "session", question, agent.RunConfig{}) {
			if err != nil {
				log.Fatal(err)
			}
		}
	}
	_ = meter.Flush(context.Background())
	// Output: compacted ahead
}
