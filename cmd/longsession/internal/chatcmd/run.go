package chatcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/guard"
	"github.com/adk-go-ext/longsession/internal/sessionlock"
	"github.com/adk-go-ext/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/prompt"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// setup is what a chat is made from.
type setup struct {
	source   source
	settings preset.Settings
	registry *tokens.Registry
	llm      model.LLM
	project  *prompt.Loader
}

// run talks. Whatever is refused is refused before the session file is opened.
func (c *command) run(cmd *cobra.Command, _ []string) (err error) {
	defer silenceLog()()
	ctx, errs := cmd.Context(), cmd.ErrOrStderr()
	attended := c.prompt == "" && isTerminal(cmd.InOrStdin()) && isTerminal(errs)
	s, err := c.setup(ctx, isTerminal(cmd.InOrStdin()), !cmd.Flags().Changed("base-url"))
	if err != nil {
		return err
	}
	if c.explain {
		_, err := io.WriteString(cmd.OutOrStdout(), s.settings.Explain())
		return err
	}
	for _, note := range s.settings.Notes {
		fmt.Fprintln(errs, note.Text)
	}
	t := trust{mode: c.trust, file: trustFile(), say: func(text string) { fmt.Fprintln(errs, text) }}
	if attended {
		t.ask = askTrust(ctx, cmd.InOrStdin(), errs)
	}
	if s.project, err = t.loader(c.folder); err != nil {
		return exit.Usage("--folder: %w", err)
	}
	sessions, err := openFile(c.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()
	return c.talk(ctx, cmd, s, sessions)
}

// setup resolves the settings, and opens the model. fromEnvironment says that --base-url was not given.
func (c *command) setup(ctx context.Context, typed, fromEnvironment bool) (*setup, error) {
	if c.resume && c.session != "" {
		return nil, exit.Usage("--resume goes on with the newest session, and --session names one: give one of them")
	}
	if c.yolo {
		c.trust = trustYes
		if c.flags.Ask == nil {
			allow := preset.AskAllow
			c.flags.Ask = &allow
		}
	}
	if c.noCheckpoint {
		off := preset.CheckpointOff
		if c.flags.Checkpoint != nil && *c.flags.Checkpoint != off {
			return nil, exit.Usage("--no-checkpoint turns checkpoints off, and --checkpoint is %s: give one of them", *c.flags.Checkpoint)
		}
		c.flags.Checkpoint = &off
	}
	s := &setup{source: source{baseURL: c.baseURL, env: os.Getenv}}
	if fromEnvironment {
		s.source.baseURL = cmp.Or(os.Getenv("LONGSESSION_BASE_URL"), os.Getenv("OPENAI_BASE_URL"))
	}
	in, err := c.sources(s.source)
	if err != nil {
		return nil, err
	}
	in.OneShot, in.Piped, in.Yolo = c.prompt != "", !typed, c.yolo
	name := nearestModel(in)
	if name != "" { // before problems of settings that depend on it
		if _, err := s.source.open(ctx, name); err != nil {
			return nil, exit.Usage("%w", err)
		}
	}
	s.registry, err = registry(name, c.window, c.price)
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	in.Registry = s.registry
	if s.settings, err = preset.Resolve(in); err != nil {
		return nil, exit.Usage("%w", err)
	}
	if s.source.free(s.settings.Model.Value) { // there is no money to be saved
		s.settings.Notes = slices.DeleteFunc(s.settings.Notes, func(n preset.Note) bool { return n.Kind == preset.NoteSameModel })
	}
	if s.llm, err = s.source.open(ctx, s.settings.Model.Value); err != nil {
		return nil, exit.Usage("%w", err)
	}
	return s, nil
}

// sources are the settings of each source. Those of the app are the three mechanisms that a chat has from the start, and
// the model of a person without a key.
func (c *command) sources(from source) (preset.In, error) {
	in := preset.In{Flag: c.flags}
	var err error
	if in.Environment, err = preset.Environment(os.LookupEnv); err != nil {
		return in, exit.Usage("%w", err)
	}
	for _, v := range []*preset.Values{&in.Flag, &in.Environment, &in.File} {
		if v.Model != nil && *v.Model == scriptedPrefix {
			demo := demoModel
			v.Model = &demo
		}
	}
	on, checkpoint := true, preset.CheckpointModel
	in.App.AgenticTools, in.App.Checkpoint = &on, &checkpoint
	if nearestModel(in) == "" && from.baseURL != "" {
		return in, exit.Usage("the server %s needs the name of a model: give it by --model", terminal.Printable(from.baseURL))
	}
	if demo := from.fallback(); demo != "" && nearestModel(in) == "" && in.Flag.Provider == nil && in.Environment.Provider == nil && in.File.Provider == nil {
		in.App.Model = &demo
	}
	if from.free(nearestModel(in)) {
		unpriced := preset.UnpricedWarn
		in.App.NoCeiling, in.App.Unpriced = &on, &unpriced
	}
	return in, nil
}

// nearestModel is the name that the nearest source gives, "" if none does.
func nearestModel(in preset.In) string {
	for _, v := range []preset.Values{in.Flag, in.Environment, in.File, in.App} {
		if v.Model != nil {
			return *v.Model
		}
	}
	return ""
}

// openFile opens the session file, and makes it and its folder if they do not exist. A new file is for its owner alone:
// it has every word in plain text.
func openFile(name string) (*persistence.SQLiteSessionService, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, exit.Usage("the folder of the session file cannot be made; name another one with --file: %w", err)
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return nil, exit.Usage("--file is %s, which is a folder: name a file", terminal.Printable(name))
	case errors.Is(err, os.ErrNotExist):
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, exit.Usage("--file: %w", err)
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	sessions, err := persistence.NewSQLiteSessionService(name)
	if err != nil {
		return nil, exit.Usage("--file: %w", err)
	}
	return sessions, nil
}

// talk puts the layers over the sessions and runs the chat.
func (c *command) talk(ctx context.Context, cmd *cobra.Command, s *setup, sessions *persistence.SQLiteSessionService) (err error) {
	compactions, alerts := &chat.Compactions{}, &chat.Alerts{}
	cfg, err := longsession.FromSettings(s.settings, s.llm)
	if err != nil {
		return exit.Usage("%w", err)
	}
	cfg.Registry = s.registry
	cfg.Compaction.Observer, cfg.Guard.Observer = compactions, alerts
	cfg.Compaction.Logger = slog.New(slog.DiscardHandler)
	cfg.Prompt.Project = s.project
	cfg.Recall.Enabled = !c.noRecall
	if strings.HasPrefix(s.settings.Model.Value, scriptedPrefix) {
		cfg.Compaction.Summarizer = summarizer.Extractive{} // a script does not summarize
	}
	stack, err := longsession.New(sessions, cfg)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, stack.Close(context.WithoutCancel(ctx))) }()
	folder := c.folder
	if c.noTools {
		folder = ""
	}
	open := func(name string) (model.LLM, error) { return s.source.open(ctx, name) }
	w, err := newWorker(stack, s.settings, s.llm, folder, !c.noTools && !c.noWeb, open)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	talk, err := chat.New(chat.Config{
		Agent: w.agent, Tools: w.tools, Stack: stack, Compactions: compactions, Alerts: alerts,
		Session: compaction.SessionRef{AppName: appName, UserID: c.user, SessionID: c.session}, Resume: c.resume,
		Lock: func(_ context.Context, ref compaction.SessionRef) (func(), error) {
			return sessionlock.Take(c.file, ref.AppName, ref.UserID, ref.SessionID)
		},
		In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Prompt: c.prompt, HistoryFile: historyFile(),
		NoCheckpoint: s.settings.Checkpoint.Value == preset.CheckpointOff, NoStream: c.noStream,
	})
	if err != nil {
		return exit.Usage("%w", err)
	}
	if s.settings.Model.Source == preset.FromApp && c.prompt == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "No key is set, so a scripted model answers. For a real one, set GEMINI_API_KEY or give --base-url and --model.")
	}
	return ended(talk.Run(ctx))
}

// ended gives the end of a chat its exit code.
func ended(err error) error {
	var inUse *sessionlock.InUseError
	switch {
	case errors.Is(err, chat.ErrInterrupted):
		return exit.Interrupted("everything stored so far is kept")
	case errors.Is(err, guard.ErrStopped):
		return &exit.Error{Code: exit.CodeFindings, Err: err}
	case errors.As(err, &inUse):
		return exit.Usage("%w", err)
	case errors.Is(err, chat.ErrNoSession):
		return exit.Usage("%w: leave --resume out to begin one", err)
	}
	return err
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// silenceLog keeps what libraries log out of the conversation. What a person has to know comes as an error or a note.
func silenceLog() (restore func()) {
	before := log.Writer()
	log.SetOutput(io.Discard)
	return func() { log.SetOutput(before) }
}
