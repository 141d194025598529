package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

var ref = compaction.SessionRef{AppName: "painter", UserID: "ida", SessionID: "house"}

// live is one start of the app: open the file, talk, close it.
func live(ctx context.Context, file string, questions []string, out io.Writer) (err error) {
	sessions, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()

	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summarizer.Extractive{}
	cfg.ContextWindow = 128_000 // of the agent's model: here a script that no table knows
	cfg.MaxSummaryTokens = 150  // the turns here are short, so the summaries are too
	cfg.Synchronous = true      // so that the output is the same on every run; an app leaves it off
	svc, err := compaction.NewCompactionService(sessions, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close(ctx)) }() // before the file

	if err := report(ctx, sessions, svc, out); err != nil {
		return err
	}
	if err := talk(ctx, svc, questions, out); err != nil {
		return err
	}
	return report(ctx, sessions, svc, out)
}

func talk(ctx context.Context, svc session.Service, questions []string, out io.Writer) error {
	painter, err := llmagent.New(llmagent.Config{
		Name: "painter", Model: scripted(), Instruction: "You plan the painting of a house. Be brief and exact.",
	})
	if err != nil {
		return err
	}
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: painter, SessionService: svc, AutoCreateSession: true})
	if err != nil {
		return err
	}
	for i, question := range questions {
		answer := ""
		for ev, err := range r.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				return err
			}
			if ev.Content != nil {
				answer = ev.Content.Parts[0].Text
			}
		}
		switch i {
		case 0, len(questions) - 1:
			fmt.Fprintf(out, "  Ida:     %s\n  painter: %s\n", question, answer)
		case 1:
			fmt.Fprintf(out, "  ... %d more turns ...\n", len(questions)-2)
		}
	}
	return nil
}

// report says what is stored, and what of it a new turn has to load.
func report(ctx context.Context, sessions *persistence.SQLiteSessionService, svc *compaction.CompactionSessionService, out io.Writer) error {
	req := &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
	active, err := sessions.GetActive(ctx, req)
	if errors.Is(err, session.ErrNotFound) {
		fmt.Fprintf(out, "  There is no session yet.\n")
		return nil
	}
	if err != nil {
		return err
	}
	view, err := svc.Get(ctx, req)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  %d events are stored, a turn loads %d of them, and the model sees %d messages.\n",
		active.Session.(*persistence.ActiveSession).StoredEvents(), active.Session.Events().Len(), view.Session.Events().Len())
	return nil
}
