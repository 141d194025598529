package prompt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// blocksModel is an adapter for a provider that caches a system prompt up to marked blocks, as Anthropic does
// with cache_control. A real one would send the blocks and read the answer.
type blocksModel struct{}

func (blocksModel) Name() string { return "claude-example" }

func (blocksModel) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	type control struct {
		Type string `json:"type"`
	}
	type block struct {
		Type    string   `json:"type"`
		Text    string   `json:"text"`
		Control *control `json:"cache_control,omitempty"`
	}
	system, from := prompt.Joined(req.Config.SystemInstruction), 0
	for _, at := range prompt.Breakpoints(ctx) {
		printJSON(block{"text", system[from:at], &control{"ephemeral"}})
		from = at
	}
	if from < len(system) {
		printJSON(block{"text", system[from:], nil})
	}
	return done
}

// textModel is an adapter for a provider that finds cached prefixes by itself, as OpenAI does. It has no use for
// break points: that the prefix stays the same is enough.
type textModel struct{}

func (textModel) Name() string { return "gpt-example" }

func (textModel) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	printJSON(map[string]string{"role": "system", "content": prompt.Joined(req.Config.SystemInstruction)})
	return done
}

func printJSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
}

func done(yield func(*model.LLMResponse, error) bool) {
	yield(&model.LLMResponse{Content: genai.NewContentFromText("Done.", genai.RoleModel)}, nil)
}

// Adapters of other providers find the break points in the context of a model call.
func ExampleBreakpoints() {
	builder, err := prompt.New(prompt.Config{
		Project:  prompt.Text("Run make test before you commit."),
		Memories: prompt.Text("The user prefers short answers."),
		Skills:   prompt.Text("Skills: pdf, xlsx."),
	})
	if err != nil {
		panic(err)
	}
	ask(builder, blocksModel{})
	// Output:
	// {"type":"text","text":"You help.\n\nYou are an agent. Your internal name is \"helper\".","cache_control":{"type":"ephemeral"}}
	// {"type":"text","text":"\n\nRun make test before you commit.","cache_control":{"type":"ephemeral"}}
	// {"type":"text","text":"\n\nThe user prefers short answers.","cache_control":{"type":"ephemeral"}}
	// {"type":"text","text":"\n\nSkills: pdf, xlsx."}
}

// An adapter for a provider that caches prefixes by itself joins the parts, and that is all.
func ExampleJoined() {
	builder, err := prompt.New(prompt.Config{Project: prompt.Text("Run make test before you commit.")})
	if err != nil {
		panic(err)
	}
	ask(builder, textModel{})
	// Output:
	// {"content":"You help.\n\nYou are an agent. Your internal name is \"helper\".\n\nRun make test before you commit.","role":"system"}
}

// ask has an agent answer one question.
func ask(builder *prompt.Builder, llm model.LLM) {
	helper, err := llmagent.New(llmagent.Config{Name: "helper", Instruction: "You help.", Model: builder.Model(llm)})
	if err != nil {
		panic(err)
	}
	cfg := runner.Config{AppName: "app", Agent: helper, SessionService: session.InMemoryService(), AutoCreateSession: true}
	cfg.PluginConfig.Plugins = append(cfg.PluginConfig.Plugins, builder.Plugin())
	r, err := runner.New(cfg)
	if err != nil {
		panic(err)
	}
	for _, err := range r.Run(context.Background(), "user", "session", genai.NewContentFromText("Hello", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			panic(err)
		}
	}
}

// An app that calls a provider by itself may build the same prompt.
func ExampleSections_Build() {
	sections, err := prompt.NewSections(
		prompt.PromptSection{Name: "base", Content: "You help.", Cacheable: true},
		prompt.PromptSection{Name: "policy", Content: "Never delete {anything}.", Cacheable: true},
		prompt.PromptSection{Name: "status", Content: "Build 17 is red."},
	)
	if err != nil {
		panic(err)
	}
	text, breakpoints := sections.Build()
	fmt.Println(text)
	fmt.Println(breakpoints)
	// Output:
	// You help.
	//
	// Never delete {anything}.
	//
	// Build 17 is red.
	// [9 35]
}
