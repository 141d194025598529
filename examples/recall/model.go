package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

// recallTool is the name of the tool.
const recallTool = "recall"

// unknown is the model's answer where it finds none.
const unknown = "I am sorry, I can no longer find that."

// answering returns a model that plays the chat, and what it was sent is added to a play.
func (p *play) answering(script []exchange) model.LLM {
	replies, calls := map[string]string{}, 0
	for _, e := range script {
		replies[e.user] = e.model
	}
	return compactiontest.NewModel("scripted model", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		resp := next(req, replies)
		for _, part := range resp.Content.Parts {
			if part.FunctionCall != nil { // ADK would make up another ID in each run
				calls++
				part.FunctionCall.ID = fmt.Sprint("call-", calls)
			}
		}
		in, out := size(req), tokens.OfContent(resp.Content)
		p.sent, p.last, p.largest = p.sent+in, in, max(p.largest, in)
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(in), CandidatesTokenCount: int32(out), TotalTokenCount: int32(in + out),
		}
		return resp
	})
}

// size is what a provider would count: the contents, the instruction and the declarations.
func size(req *model.LLMRequest) int {
	n := tokens.OfContents(req.Contents)
	if req.Config == nil {
		return n
	}
	n += tokens.OfContent(req.Config.SystemInstruction)
	for _, t := range req.Config.Tools {
		for _, declaration := range t.FunctionDeclarations {
			data, err := json.Marshal(declaration)
			if err != nil {
				continue // ADK's own declarations can all be sent
			}
			n += tokens.Estimate(string(data))
		}
	}
	return n
}

// next is what the model writes: a line of the script, an answer that its prompt has, a call of recall, or that it does
// not know.
func next(req *model.LLMRequest, replies map[string]string) *model.LLMResponse {
	asked := len(req.Contents) - 1
	for asked > 0 && !says(req.Contents[asked]) {
		asked--
	}
	question := text(req.Contents[asked])
	if reply := replies[question]; reply != "" {
		return compactiontest.Say(reply)
	}
	at := slices.IndexFunc(facts, func(f fact) bool { return f.asked == question })
	if at < 0 {
		return compactiontest.Say("I have no script for that.")
	}
	for _, content := range req.Contents {
		if strings.Contains(text(content), facts[at].answer) {
			return compactiontest.Say("That is " + facts[at].answer + ".")
		}
	}
	if called := asked < len(req.Contents)-1; called || !declares(req, recallTool) {
		return compactiontest.Say(unknown)
	}
	return compactiontest.CallTool(recallTool, map[string]any{"query": question})
}

// says reports whether a content is a message of the user.
func says(c *genai.Content) bool {
	return c.Role == genai.RoleUser && len(c.Parts) > 0 && c.Parts[0].Text != ""
}

// text is all that a content says, results of tools included.
func text(c *genai.Content) string {
	var all []string
	for _, part := range c.Parts {
		if part.Text != "" {
			all = append(all, part.Text)
		}
		if part.FunctionResponse != nil {
			all = append(all, fmt.Sprint(part.FunctionResponse.Response))
		}
	}
	return strings.Join(all, "\n")
}

func declares(req *model.LLMRequest, name string) bool {
	_, declared := req.Tools[name]
	return declared
}
