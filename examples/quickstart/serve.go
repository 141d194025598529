package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/tokens"
)

var ref = compaction.SessionRef{AppName: "support-desk", UserID: "mara", SessionID: "chat-1"}

// serve plays the whole conversation on a session file, and prints what the model saw.
func serve(ctx context.Context, llm model.LLM, cfg compaction.Config, file string, out io.Writer) (err error) {
	t := &table{out: out}
	cfg.Observer = t.Observe

	sessions, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()
	// This is the only change in an app: it wraps its session service.
	svc, err := compaction.NewCompactionService(sessions, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close(ctx)) }()

	r, err := deskRunner(llm, svc, t)
	if err != nil {
		return err
	}
	t.header(llm.Name())
	for _, turn := range conversation {
		msg := genai.NewContentFromText(turn.question, genai.RoleUser)
		for ev, err := range r.Run(ctx, ref.UserID, ref.SessionID, msg, agent.RunConfig{}) {
			if err != nil {
				return fmt.Errorf("turn %d: %w", t.turns+1, err)
			}
			t.heard(ev)
		}
		if err := t.row(ctx, svc, turn.question); err != nil {
			return err
		}
	}
	if err := t.proof(ctx, svc); err != nil {
		return err
	}
	t.whereToLook(file)
	t.lastLine()
	return nil
}

// deskRunner creates the agent, which does not know about compaction, and its runner.
func deskRunner(llm model.LLM, svc session.Service, t *table) (*runner.Runner, error) {
	tools, err := deskTools()
	if err != nil {
		return nil, err
	}
	desk, err := llmagent.New(llmagent.Config{
		Name:        "desk",
		Description: "the support desk of a shop for household goods",
		Instruction: "You are the support desk of a shop for household goods. Be brief and exact. Use the tools; never guess an order, a stock or a refund.",
		Model:       llm,
		Tools:       tools,
		BeforeModelCallbacks: []llmagent.BeforeModelCallback{
			func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
				t.prompt = tokens.OfContents(req.Contents)
				return nil, nil
			},
		},
	})
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{AppName: ref.AppName, Agent: desk, SessionService: svc, AutoCreateSession: true})
}
