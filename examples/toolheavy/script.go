package main

import (
	"context"
	"fmt"
	"iter"
	"regexp"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// callsPerTask is how often the scripted model is called for one task: for seven tool calls and an answer.
const callsPerTask = 8

func question(i int) string {
	return fmt.Sprintf("Task %d: the tests of %s fail. Read the package and tell me its retry budget.", i+1, packageName(i))
}

// scripted is a model that works through the tasks. Of the results it knows only what its prompt has: it
// searches a shortened one with read_result.
type scripted struct {
	provider *provider
	calls    int
}

func (*scripted) Name() string { return "scripted model" }

// GenerateContent counts the request as a provider does, and answers with the next step of the task.
func (s *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		prompt := s.provider.receive(req)
		resp := step(s.calls, req.Contents)
		s.calls++
		for _, part := range resp.Content.Parts {
			if part.FunctionCall != nil { // ADK would make up another one in each run
				part.FunctionCall.ID = fmt.Sprint("call-", s.calls)
			}
		}
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(prompt), CandidatesTokenCount: 40, TotalTokenCount: int32(prompt + 40),
		}
		yield(resp, nil)
	}
}

func step(call int, prompt []*genai.Content) *model.LLMResponse {
	dir := packageName(call / callsPerTask % packages)
	on := func(tool, path string) *model.LLMResponse {
		return compactiontest.CallTool(tool, map[string]any{"path": path})
	}
	switch call % callsPerTask {
	case 0:
		return on("list_files", dir)
	case 1:
		return on("run_tests", dir)
	case 2:
		return on("read_file", dir+"/doc.go")
	case 3:
		return on("read_file", dir+"/types.go")
	case 4:
		return on("read_file", dir+"/store.go")
	case 5:
		return on("read_file", dir+"/server.go")
	case 6:
		if ref := shortened(prompt[len(prompt)-1]); ref != "" {
			return compactiontest.CallTool("read_result", map[string]any{"ref_id": ref, "grep": "retry budget"})
		}
		return on("read_file", dir+"/doc.go") // the whole file is in the prompt
	}
	return compactiontest.Say(answer(prompt, dir))
}

// counted is a real model whose requests the provider counts, too.
type counted struct {
	model.LLM
	provider *provider
}

// GenerateContent counts the request and passes it on.
func (c counted) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	c.provider.receive(req)
	return c.LLM.GenerateContent(ctx, req, stream)
}

// shortened returns the reference of a result that the model does not see whole, or "".
func shortened(newest *genai.Content) string {
	for _, part := range newest.Parts {
		if part.FunctionResponse != nil {
			ref, _ := part.FunctionResponse.Response["ref_id"].(string)
			return ref
		}
	}
	return ""
}

var budgetPattern = regexp.MustCompile(`The retry budget of (handler\d+) is (\d+) per minute`)

// answer is what the prompt has of the package's retry budget.
func answer(prompt []*genai.Content, dir string) string {
	for i := len(prompt) - 1; i >= 0; i-- {
		for _, part := range prompt[i].Parts {
			if part.FunctionResponse == nil {
				continue
			}
			for _, value := range part.FunctionResponse.Response {
				text, _ := value.(string)
				for _, m := range budgetPattern.FindAllStringSubmatch(text, -1) {
					if m[1] == dir {
						return fmt.Sprintf("The retry budget of %s is %s per minute. The test wants it kept.", dir, m[2])
					}
				}
			}
		}
	}
	return "I cannot find the retry budget of " + dir + "."
}
