package main

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

const modelName = "manual-clerk-1"

// message is a user's message in one of the sessions.
type message struct{ session, text string }

// script is a conversation that is compacted until it has used up its model calls, a loop that the watchdog
// ends, and a turn that would cost more than a turn may.
var script = func() []message {
	var all []message
	for n := range 16 {
		all = append(all, message{"manual", fmt.Sprintf("What is on page %d? %s", n+1, strings.Repeat("Please be exact. ", 60))})
	}
	return append(all,
		message{"loop", "Read page 1 until it says something else."},
		message{"ceiling", "Read all pages of the manual."},
	)
}()

// scripted is a model that reads one page for each question. It repeats itself if it is asked to, and reads
// on and on if it is asked for everything. Its first summary fails.
func scripted() model.LLM {
	summaries := 0
	return compactiontest.NewModel(modelName, func(n int, req *model.LLMRequest) *model.LLMResponse {
		last := req.Contents[len(req.Contents)-1].Parts[0]
		var answer *model.LLMResponse
		switch {
		case len(req.Config.Tools) == 0 && summaries == 0:
			summaries++
			answer = compactiontest.Say("")
		case len(req.Config.Tools) == 0:
			answer = compactiontest.Say("The user asks for pages of a manual, one after the other, and gets the text of each.")
		case asked(req, "until it says"):
			answer = compactiontest.CallTool("read_page", map[string]any{"page": 1})
		case asked(req, "all pages"):
			answer = compactiontest.CallTool("read_page", map[string]any{"page": n})
		case last.FunctionResponse != nil:
			answer = compactiontest.Say("It is the text of that page, word for word, as it is in the manual.")
		default:
			answer = compactiontest.CallTool("read_page", map[string]any{"page": n})
		}
		prompt := int32(tokens.OfContents(req.Contents)) + 450 // the instruction and the tools
		answer.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: 40, TotalTokenCount: prompt + 40}
		return answer
	})
}

// asked reports whether the user's newest message has these words.
func asked(req *model.LLMRequest, words string) bool {
	text := ""
	for _, content := range req.Contents {
		if content.Role == genai.RoleUser && content.Parts[0].Text != "" {
			text = content.Parts[0].Text
		}
	}
	return strings.Contains(text, words)
}
