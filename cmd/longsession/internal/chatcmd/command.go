// Package chatcmd is longsession chat: flags, model, tools and session of a chat.
package chatcmd

import (
	"context"
	_ "embed" // of the help
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/guard"
	"github.com/adk-go-ext/longsession/internal/scripted"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

//go:embed help/chat.txt
var helpText string

// appName is the app of the sessions that the command makes.
const appName = "longsession"

// command holds the flags.
type command struct {
	file, session, user, prompt string
	flags                       preset.Values
}

// Command returns the chat command.
func Command() *cobra.Command {
	c := &command{file: defaultFile(), user: defaultUser()}
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk to an agent, and see its context being managed", Long: helpText, Args: cobra.NoArgs, RunE: c.run,
		Annotations: map[string]string{exit.OwnInterrupts: "a turn"},
		Example:     "  longsession chat\n  longsession chat --model gemini-2.5-flash\n  longsession chat -p 'What does this folder hold?'",
	}
	setting.Add(cmd,
		setting.Setting{Name: "file", Value: setting.File(&c.file, "db"), Help: "the session file"},
		setting.Setting{Name: "session", Value: setting.Text(&c.session), Help: "the session to begin or to resume"},
		setting.Setting{Name: "user", Value: setting.Text(&c.user), Help: "the user whose session it is"},
		setting.Setting{Name: "prompt", Short: "p", Value: setting.Text(&c.prompt), Help: "send this one message, print the answer and end"})
	for _, key := range preset.Keys() {
		setting.Add(cmd, setting.Setting{Name: key.Flag, Value: c.value(key), Help: key.Help})
	}
	return cmd
}

// value is the flag of a key.
func (c *command) value(key preset.Key) setting.Value {
	typed := ""
	return setting.New(func() string { return typed }, func(text string) error {
		if err := c.flags.Set(key.Name, text); err != nil {
			return err
		}
		typed = text
		return nil
	})
}

func defaultUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user"
}

// defaultFile is the session file of a person: $XDG_DATA_HOME/longsession/chat.db, normally below ~/.local/share.
func defaultFile() string {
	folder := os.Getenv("XDG_DATA_HOME")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "chat.db"
		}
		folder = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(folder, "longsession", "chat.db")
}

func (c *command) run(cmd *cobra.Command, _ []string) (err error) {
	ctx := cmd.Context()
	environment, err := preset.Environment(os.LookupEnv)
	if err != nil {
		return exit.Usage("%w", err)
	}
	var app preset.Values
	if c.flags.Model == nil && environment.Model == nil && !haveKey() {
		demo := demoModel // so that a newcomer can chat without a key
		app.Model = &demo
	}
	registry, err := registryFor(c.modelName(environment, app))
	if err != nil {
		return err
	}
	settings, err := preset.Resolve(preset.In{Flag: c.flags, Environment: environment, App: app, OneShot: c.prompt != "", Registry: registry})
	if err != nil {
		return exit.Usage("%w", err)
	}
	llm, err := openModel(ctx, settings.Model.Value)
	if err != nil {
		return exit.Usage("%w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return exit.Usage("the folder of the session file cannot be made: %w", err)
	}
	sessions, err := persistence.NewSQLiteSessionService(c.file)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()

	cfg, err := longsession.FromSettings(settings, llm)
	if err != nil {
		return exit.Usage("%w", err)
	}
	cfg.Registry = registry
	compactions := &chat.Compactions{}
	cfg.Compaction.Observer = compactions
	cfg.Compaction.Logger = slog.New(slog.DiscardHandler)
	if _, plays := llm.(*scripted.Model); plays {
		cfg.Compaction.Summarizer = summarizer.Extractive{}
	}
	stack, err := longsession.New(sessions, cfg)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, stack.Close(context.WithoutCancel(ctx))) }()
	bot, err := llmagent.New(llmagent.Config{Name: "assistant", Model: stack.Model(llm), Tools: stack.Tools(), Instruction: "You are a helpful assistant."})
	if err != nil {
		return err
	}
	talk, err := chat.New(chat.Config{
		Agent: bot, Stack: stack, Session: compaction.SessionRef{AppName: appName, UserID: c.user, SessionID: c.session}, Compactions: compactions,
		In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Prompt: c.prompt,
	})
	if err != nil {
		return exit.Usage("%w", err)
	}
	return ended(talk.Run(ctx))
}

// ended gives the end of a chat its exit code.
func ended(err error) error {
	switch {
	case errors.Is(err, chat.ErrInterrupted):
		return exit.Interrupted("everything stored so far is kept")
	case errors.Is(err, guard.ErrStopped):
		return &exit.Error{Code: exit.CodeFindings, Err: err}
	}
	return err
}

// modelName is the name that the nearest source gives, "" if none does.
func (c *command) modelName(farther ...preset.Values) string {
	for _, v := range append([]preset.Values{c.flags}, farther...) {
		if v.Model != nil {
			return *v.Model
		}
	}
	return ""
}

// registryFor knows the windows and prices of models, a scripted one included. That costs nothing; so that there is
// something to see, it is charged as gemini-2.5-flash.
func registryFor(name string) (*tokens.Registry, error) {
	if !strings.HasPrefix(name, scriptedPrefix) {
		return nil, nil
	}
	as, _ := tokens.Lookup("gemini-2.5-flash")
	as.Name, as.ContextWindow, as.MaxOutputTokens = strings.ToLower(name), 32_000, 4_000
	return tokens.NewRegistry(as)
}

// demoModel is the model that needs neither a key nor a network.
const demoModel = scriptedPrefix + "demo"

// scriptedPrefix comes before the name of a script.
const scriptedPrefix = "scripted:"

// keyOf is where the key of a Gemini model comes from.
var keyOf = []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}

func haveKey() bool {
	return slices.ContainsFunc(keyOf, func(name string) bool { return os.Getenv(name) != "" })
}

// openModel returns the model of a name.
func openModel(ctx context.Context, name string) (model.LLM, error) {
	if script, ok := strings.CutPrefix(name, scriptedPrefix); ok {
		if script == "demo" || script == "" {
			return scripted.Demo(), nil
		}
		text, err := os.ReadFile(script)
		if err != nil {
			return nil, fmt.Errorf("the script of --model %s: %w", name, err)
		}
		m, err := scripted.New(name, text)
		if err != nil {
			return nil, fmt.Errorf("the script of --model %s: %w", name, err)
		}
		return m, nil
	}
	if !haveKey() {
		return nil, fmt.Errorf("--model is %q, and no key is set: set GEMINI_API_KEY, or use --model scripted: without a key", name)
	}
	return gemini.NewModel(ctx, name, nil)
}
