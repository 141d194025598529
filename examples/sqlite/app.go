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

// live is one run of the app: it opens the file, talks, and closes it.
func live(ctx context.Context, file string, questions []string, out io.Writer) (err error) {
	sessions, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()

	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summarizer.Extractive{}
	cfg.ContextWindow = 128_000 // needed because no table knows the scripted model
	cfg.MaxSummaryTokens = 150  // short summaries, because the turns are short
	cfg.Synchronous = true      // so that every run prints the same output; leave it off in an app
	svc, err := compaction.NewCompactionService(sessions, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close(ctx)) }() // before the file is closed

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

// report prints what is stored, and how much of it a new turn loads.
func report(ctx context.Context, sessions *persistence.SQLiteSessionService, svc *compaction.CompactionSessionService, out io.Writer) error {
	req := &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
	active, err := sessions.GetActive(ctx, req)
	if errors.Is(err, compaction.ErrNotFound) {
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
