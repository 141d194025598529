// Package chatlauncher offers package chat to ADK apps, as one of their launchers beside console and web:
//
//	l := universal.NewLauncher(chatlauncher.New(chat.Config{Stack: stack}), console.NewLauncher())
//
// It is a package of its own because ADK's launchers come with servers and exporters that a chat does not need.
package chatlauncher

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/adk/cmd/launcher"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
)

var _ launcher.SubLauncher = (*chatLauncher)(nil)

// defaultUser is the user of ADK's web interface, so that both show the same sessions.
const defaultUser = "user"

type chatLauncher struct {
	cfg   chat.Config
	flags *flag.FlagSet
	// The values of flags.
	session, user, prompt string
	resume, noStream      bool
}

// New returns a launcher with the keyword chat. It works with any session service; cfg.Stack adds the commands that show
// what the layers do.
//
// Fields of cfg that are not set come from the app's launcher config: the agent, the plugins, the artifacts, the memory
// and, without a Stack, the session service. If there is none either, sessions are kept in memory. Session.AppName is
// the name of the root agent, Session.UserID is "user", and the streams are those of the process. Flags of the command
// line come before cfg.
//
// With a Stack, the launcher config must have Stack.Sessions, or no session service. Its plugins may be those of
// Stack.PluginConfig, or the app's own only: the chat adds what is missing.
func New(cfg chat.Config) launcher.SubLauncher {
	l := &chatLauncher{cfg: cfg}
	l.flags = flag.NewFlagSet("chat", flag.ContinueOnError)
	l.flags.SetOutput(io.Discard) // the caller shows the error
	l.flags.StringVar(&l.session, "session", "", "the session to begin or to resume; without it, a new one begins")
	l.flags.BoolVar(&l.resume, "resume", false, "resume the newest session")
	l.flags.StringVar(&l.user, "user", "", "the user whose session it is (default \""+defaultUser+"\")")
	l.flags.StringVar(&l.prompt, "p", "", "send this one message or command, print the answer and end")
	l.flags.BoolVar(&l.noStream, "no_stream", false, "have the model answer as a whole")
	return l
}

// Keyword implements [launcher.SubLauncher].
func (*chatLauncher) Keyword() string { return "chat" }

// SimpleDescription implements [launcher.SubLauncher].
func (*chatLauncher) SimpleDescription() string {
	return "talks to an agent in a terminal, in sessions that can be resumed, with commands that show how their context is managed."
}

// CommandLineSyntax implements [launcher.SubLauncher].
func (l *chatLauncher) CommandLineSyntax() string {
	var b bytes.Buffer
	l.flags.SetOutput(&b)
	defer l.flags.SetOutput(io.Discard)
	l.flags.PrintDefaults()
	return b.String()
}

// Parse implements [launcher.SubLauncher]. It returns the arguments behind the flags.
func (l *chatLauncher) Parse(args []string) ([]string, error) {
	if err := l.flags.Parse(args); err != nil {
		return nil, fmt.Errorf("chat: %w; the flags are:\n%s", err, strings.TrimRight(l.CommandLineSyntax(), "\n"))
	}
	return l.flags.Args(), nil
}

// Run implements [launcher.SubLauncher].
func (l *chatLauncher) Run(ctx context.Context, app *launcher.Config) error {
	cfg, err := l.config(app)
	if err != nil {
		return err
	}
	c, err := chat.New(cfg)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// config is that of the chat.
func (l *chatLauncher) config(app *launcher.Config) (chat.Config, error) {
	cfg := l.cfg
	if cfg.Agent == nil && app.AgentLoader != nil {
		cfg.Agent = app.AgentLoader.RootAgent()
	}
	if cfg.Agent == nil {
		return cfg, errors.New("chat: the launcher config has no agent: set AgentLoader")
	}
	if cfg.Stack != nil && app.SessionService != nil && app.SessionService != session.Service(cfg.Stack.Sessions) {
		return cfg, fmt.Errorf("chat: SessionService of the launcher config is a %T, but the chat has a stack: set it to Stack.Sessions, or what others write is not managed", app.SessionService)
	}
	if cfg.Stack == nil && cfg.Sessions == nil {
		if cfg.Sessions = app.SessionService; cfg.Sessions == nil {
			cfg.Sessions = session.InMemoryService()
		}
	}
	if len(cfg.PluginConfig.Plugins) == 0 {
		cfg.PluginConfig = app.PluginConfig
	}
	if cfg.Artifacts == nil {
		cfg.Artifacts = app.ArtifactService
	}
	if cfg.Memory == nil {
		cfg.Memory = app.MemoryService
	}
	cfg.Session.AppName = cmp.Or(cfg.Session.AppName, cfg.Agent.Name())
	cfg.Session.UserID = cmp.Or(l.user, cfg.Session.UserID, defaultUser)
	if l.resume {
		cfg.Resume, cfg.Session.SessionID = true, ""
	}
	if l.session != "" {
		if cfg.Session.SessionID = l.session; !l.resume { // both flags contradict each other, which chat.New says
			cfg.Resume = false
		}
	}
	cfg.Prompt = cmp.Or(l.prompt, cfg.Prompt)
	cfg.NoStream = cfg.NoStream || l.noStream
	if cfg.In == nil {
		cfg.In = os.Stdin
	}
	if cfg.Out == nil {
		cfg.Out = os.Stdout
	}
	if cfg.Err == nil {
		cfg.Err = os.Stderr
	}
	return cfg, nil
}
