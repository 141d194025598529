package main

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// The app, the user and the agent of all sessions.
const (
	appName   = "recall"
	userName  = "user"
	agentName = "agent"
)

func refOf(id string) compaction.SessionRef {
	return compaction.SessionRef{AppName: appName, UserID: userName, SessionID: id}
}

func requestOf(id string) *session.GetRequest {
	return &session.GetRequest{AppName: appName, UserID: userName, SessionID: id}
}

// events are the messages of a history as the runner would store them. The ID of an event is the number of its
// message.
func (h *history) events() iter.Seq2[int, *session.Event] {
	return func(yield func(int, *session.Event) bool) {
		turn := 0
		for i, m := range h.messages {
			author, role := agentName, genai.Role(genai.RoleModel)
			if m.user {
				turn++
				author, role = "user", genai.RoleUser
			}
			ev := &session.Event{
				ID: fmt.Sprintf("message-%d", i), InvocationID: fmt.Sprintf("turn-%d", turn), Author: author, Timestamp: m.time,
				LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(m.text, role)},
			}
			if !yield(i, ev) {
				return
			}
		}
	}
}

// messageOf is the number of the message with an event of that ID, or -1.
func messageOf(id string) int {
	n := -1
	if _, err := fmt.Sscanf(id, "message-%d", &n); err != nil {
		return -1
	}
	return n
}

// store creates a session and appends a history to it.
func (h *history) store(ctx context.Context, svc session.Service, id string) error {
	created, err := svc.Create(ctx, &session.CreateRequest{AppName: appName, UserID: userName, SessionID: id})
	if err != nil {
		return err
	}
	for i, ev := range h.events() {
		if err := svc.AppendEvent(ctx, created.Session, ev); err != nil {
			return fmt.Errorf("%s: %w", ev.ID, err)
		}
		if unanswered := h.messages[i].user && (i+1 == len(h.messages) || h.messages[i+1].user); !unanswered {
			continue
		}
		if err := svc.AppendEvent(ctx, created.Session, answerTo(ev)); err != nil {
			return fmt.Errorf("the answer to %s: %w", ev.ID, err)
		}
	}
	return nil
}

// answerTo is the answer to a message that the recording does not answer, because nothing is summarized before the
// agent has spoken.
func answerTo(ev *session.Event) *session.Event {
	return &session.Event{
		ID: "answer-to-" + ev.ID, InvocationID: ev.InvocationID, Author: agentName, Timestamp: ev.Timestamp,
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("Noted.", genai.RoleModel)},
	}
}

// window is the context window of the agent's model, in tokens.
const window = 128_000

// config is the default with summaries that no model writes.
func config() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summarizer.Extractive{}
	cfg.ContextWindow = window
	cfg.Synchronous = true // the same in every run
	return cfg
}

// prompt is what the model would see of a session.
type prompt struct {
	texts  []string
	sizes  []int // in tokens
	tokens int
}

// perContent is what a content of a prompt costs beyond its parts, in tokens.
const perContent = 4

func contentSize(c *genai.Content) int { return tokens.OfContent(c) + perContent }

func promptOf(sess session.Session) prompt {
	var p prompt
	for ev := range sess.Events().All() {
		if ev.Content == nil {
			continue
		}
		p.add(ev.Content)
	}
	return p
}

func (p *prompt) add(c *genai.Content) {
	text := ""
	for _, part := range c.Parts {
		text += part.Text + "\n"
	}
	size := contentSize(c)
	p.texts, p.sizes, p.tokens = append(p.texts, text), append(p.sizes, size), p.tokens+size
}

// holds reports whether one of the texts has one of the answers.
func (p prompt) holds(answers []string) bool {
	for _, text := range p.texts {
		if holdsAny(text, answers) {
			return true
		}
	}
	return false
}

// newest is the prompt of the newest messages that take up at most so many tokens.
func newest(h *history, budget int) prompt {
	var p prompt
	for i := len(h.messages) - 1; i >= 0; i-- {
		c := genai.NewContentFromText(h.messages[i].text, genai.RoleUser)
		if p.tokens+contentSize(c) > budget {
			break
		}
		p.add(c)
	}
	return p
}

// richLedger is the length of a ledger for long sessions, in tokens.
const richLedger = 1_000

// withLedger sets the length of the ledger of exact values, in tokens.
func withLedger(cfg compaction.Config, tokens int) compaction.Config {
	cfg.MaxLedgerTokens = tokens
	return cfg
}
