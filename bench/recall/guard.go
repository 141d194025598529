package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/bench/guarded"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
)

const (
	// guardWindow is contextguard's default sliding window, in contents.
	guardWindow = 20
	// guardTokens is the length of its one summary: what five summaries of ours and the ledger may take together.
	guardTokens = 5*500 + 600
)

// guardPrompt plays a history through ADK's runner with contextguard, and returns the last prompt.
func guardPrompt(ctx context.Context, h *history) (prompt, error) {
	var last prompt
	plugins := guarded.Plugins([]string{replay.AgentName}, digester{}, window, contextguard.WithSlidingWindow(guardWindow))
	_, err := replay.App{
		Service: session.InMemoryService(),
		Plugins: plugins,
		Ref:     compaction.SessionRef{AppName: appName, UserID: userName, SessionID: h.name},
		Request: func(_, _ int, req *model.LLMRequest) int {
			last = prompt{}
			for _, c := range req.Contents {
				last.add(c)
			}
			return 0
		},
	}.Run(ctx, h.conversation())
	if err != nil {
		return prompt{}, fmt.Errorf("contextguard: %w", err)
	}
	return last, nil
}

// conversation is a history as package replay plays it. It gives a placeholder where the recording has no answer.
func (h *history) conversation() *conversation.Conversation {
	c := &conversation.Conversation{ID: h.name}
	for _, m := range h.messages {
		part := genai.NewPartFromText(m.text)
		switch n := len(c.Turns); {
		case m.user:
			c.Turns = append(c.Turns, conversation.Turn{User: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleUser)})
		case n == 0: // no recording begins like this
		case len(c.Turns[n-1].Steps) == 0:
			c.Turns[n-1].Steps = []conversation.Step{{Answer: genai.NewContentFromParts([]*genai.Part{part}, genai.RoleModel)}}
		default:
			answer := c.Turns[n-1].Steps[0].Answer
			answer.Parts = append(answer.Parts, part)
		}
	}
	return c
}

// digester writes contextguard's summaries as this module's summarizer without a model does, so that the two are
// compared with one and the same writer.
type digester struct{}

var _ model.LLM = digester{}

func (digester) Name() string { return "digester" }

// GenerateContent returns the digest of the transcript in a request.
func (digester) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		result, err := summarizer.Extractive{}.Summarize(ctx, transcript(req))
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&model.LLMResponse{Content: result.Content, FinishReason: genai.FinishReasonStop}, nil)
	}
}

// The lines around the parts of contextguard's transcript.
const (
	summaryBegins    = "[Previous summary for context]\n"
	summaryEnds      = "\n[End previous summary]"
	transcriptBegins = "[Conversation to summarize]\n"
	transcriptEnds   = "[End of conversation]"
)

// transcript reads contextguard's request: an earlier summary, and messages that begin with their role.
func transcript(req *model.LLMRequest) summarizer.Request {
	out := summarizer.Request{MaxTokens: guardTokens}
	text := ""
	for _, c := range req.Contents {
		for _, part := range c.Parts {
			text += part.Text
		}
	}
	if _, rest, found := strings.Cut(text, summaryBegins); found {
		summary, _, _ := strings.Cut(rest, summaryEnds)
		out.Summaries = []string{summary}
	}
	_, text, _ = strings.Cut(text, transcriptBegins)
	text, _, _ = strings.Cut(text, transcriptEnds)
	for line := range strings.Lines(text) {
		said := strings.TrimPrefix(strings.TrimPrefix(line, "user: "), "model: ")
		if n := len(out.Events); said == line && n > 0 {
			out.Events[n-1].Content.Parts[0].Text += line // of a message of several lines
			continue
		}
		author, role := "user", genai.Role(genai.RoleUser)
		if strings.HasPrefix(line, "model: ") {
			author, role = replay.AgentName, genai.RoleModel
		}
		out.Events = append(out.Events, &session.Event{
			Author: author, LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(said, role)},
		})
	}
	return out
}
