package longsession_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/tokens"
)

// TestSkillsOfThePromptCountAsSkills asks the tracker after each turn, whatever the provider has counted: what is sent
// unchanged keeps its number, and the skills have theirs.
func TestSkillsOfThePromptCountAsSkills(t *testing.T) {
	t.Parallel()
	skills := "Skills that you can load: pdf reads PDF files page by page; xlsx reads tables; mail writes letters."
	instruction := strings.Repeat("You answer questions about orders, in one sentence. ", 8)
	for name, row := range map[string]struct {
		prompt  prompt.Config
		disable []longsession.Layer
		counts  func(turn int) int32 // 0 for a provider that reports nothing
	}{
		"skills alone":              {prompt.Config{Skills: prompt.Text(skills)}, nil, func(int) int32 { return 0 }},
		"a provider that counts":    {prompt.Config{Skills: prompt.Text(skills)}, nil, func(n int) int32 { return int32(400 + 97*n%150) }},
		"beside all other sections": {prompt.Config{Skills: prompt.Text(skills), Project: prompt.Text("Write tests first."), Memories: prompt.Text("Ada likes tea."), Scratchpad: prompt.Text("Step 2 of 5."), Status: prompt.Text("All is well.")}, nil, func(n int) int32 { return int32(500 + 31*n) }},
		"cacheable":                 {prompt.Config{Skills: prompt.Text(skills), CacheableSkills: true}, nil, func(n int) int32 { return int32(500 + 31*n) }},
		"with no other layer":       {prompt.Config{Skills: prompt.Text(skills)}, []longsession.Layer{longsession.LayerToolResults, longsession.LayerToolSearch, longsession.LayerGuard}, func(n int) int32 { return int32(300 + 50*n) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := 0
			llm := compactiontest.NewModel("m", func(int, *model.LLMRequest) *model.LLMResponse {
				resp := compactiontest.Say("Noted, thank you.")
				if n := row.counts(turn); n > 0 {
					resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: n, CandidatesTokenCount: 5}
				}
				return resp
			})
			cfg := longsession.Config{Model: llm, Prompt: row.prompt, Disable: row.disable}
			cfg.Compaction.ContextWindow = 100_000
			stack := newStack(t, cfg)
			root, err := llmagent.New(llmagent.Config{Name: "desk", Model: stack.Model(llm), Instruction: instruction, Tools: []tool.Tool{again(t)}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := runner.New(runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true})
			if err != nil {
				t.Fatal(err)
			}
			system := 0
			for turn = range 12 {
				for _, err := range r.Run(context.Background(), desk.UserID, desk.SessionID, genai.NewContentFromText(strings.Repeat("Where is my order? ", 5), genai.RoleUser), agent.RunConfig{}) {
					if err != nil {
						t.Fatal(err)
					}
				}
				b := stack.Tracker(desk).Budget()
				if b.SkillPrompts != tokens.Estimate(skills) {
					t.Errorf("turn %d: the skills have %d tokens, want %d: %+v", turn+1, b.SkillPrompts, tokens.Estimate(skills), b)
				}
				if turn == 0 {
					system = b.SystemPrompt
				}
				if b.SystemPrompt != system || system < tokens.Estimate(instruction) {
					t.Errorf("turn %d: the instruction has %d tokens, at first %d, the app's is %d", turn+1, b.SystemPrompt, system, tokens.Estimate(instruction))
				}
			}
		})
	}
}
