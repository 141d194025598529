package longsession_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// A text that is larger than the window, and that no summary can be written of, is shown with its beginning and its end,
// and with a reference, by which the model reads the rest.
func TestWhatIsShownShortenedIsReadByItsReference(t *testing.T) {
	t.Parallel()
	const needle = "the door code is ZEBRA-4471"
	var lines []string
	for i := range 900 {
		lines = append(lines, fmt.Sprintf("%d: nothing of note happened on this day.", i))
	}
	lines[450] = needle
	large := strings.Join(lines, "\n")
	for name, parts := range map[string][]*genai.Part{
		"an answer": {{Text: large}},
		"a thought": {{Text: large, Thought: true}, {Text: "Done."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ref, read string
			shown := regexp.MustCompile(`read_result reads it whole, with ref_id (\S+?)\]`)
			first := true
			llm := compactiontest.NewModel("small", func(_ int, req *model.LLMRequest) *model.LLMResponse {
				sent, err := json.Marshal(req.Contents)
				if err != nil {
					t.Error(err)
				}
				last := req.Contents[len(req.Contents)-1].Parts
				switch response := last[len(last)-1].FunctionResponse; {
				case first:
					first = false
					return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: parts}}
				case response != nil:
					read += fmt.Sprint(response.Response)
					return compactiontest.Say("I have read it.")
				case strings.Contains(string(sent), needle):
					t.Error("the large text is shown whole")
				}
				found := shown.FindStringSubmatch(string(sent))
				if found == nil {
					t.Errorf("no reference is shown: %.2000s", sent)
					return compactiontest.Say("I see nothing.")
				}
				ref = found[1]
				return compactiontest.CallTool("read_result", map[string]any{"ref_id": ref, "grep": "door code"})
			})
			stack := newStack(t, longsession.Config{Model: llm, Compaction: compaction.Config{
				ContextWindow: 4_000, Summarizer: summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
					return summarizer.Result{}, errors.New("the provider of summaries is down")
				}),
			}})
			a, err := llmagent.New(llmagent.Config{Name: "clerk", Description: "Helps.", Model: stack.Model(llm)})
			if err != nil {
				t.Fatal(err)
			}
			run, err := runner.New(runner.Config{
				AppName: "app", Agent: a, SessionService: stack.Sessions, AutoCreateSession: true, PluginConfig: stack.PluginConfig(),
			})
			if err != nil {
				t.Fatal(err)
			}
			say := func(text string) (failure error) {
				for _, err := range run.Run(t.Context(), "u", "s", genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
					failure = errors.Join(failure, err)
				}
				return failure
			}
			for _, text := range []string{"Write a diary.", "What is the door code?"} {
				if err := say(text); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if ref == "" || !strings.Contains(read, needle) {
				t.Errorf("read by %q: %.500s", ref, read)
			}
		})
	}
}
