package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/sessionlock"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/summarizer"
)

// run talks. Whatever is refused is refused before the session file is opened.
func (c *command) run(cmd *cobra.Command, _ []string) (err error) {
	defer silenceLog()()
	if err := c.checkNames(cmd); err != nil {
		return exit.Usage("%w", err)
	}
	if err := c.isFolder(); err != nil {
		return exit.Usage("%w", err)
	}
	ctx, errs := cmd.Context(), cmd.ErrOrStderr()
	WarnOfVariables(errs)
	typed := isTerminal(cmd.InOrStdin())
	s, err := c.setup(ctx, typed)
	if err != nil {
		return exit.Usage("%w", err)
	}
	if c.explain {
		_, err := io.WriteString(cmd.OutOrStdout(), s.Explain())
		return err
	}
	if !c.noTools && s.Settings.AgenticTools.Value {
		if _, err := smallModel(ctx, s); err != nil {
			return exit.Usage("%w", err)
		}
	}
	for _, note := range s.Settings.Notes {
		fmt.Fprintln(errs, note)
	}
	t := trust{mode: c.trust, file: trustFile(), say: func(text string) { fmt.Fprintln(errs, text) }}
	if c.prompt == "" && typed && isTerminal(errs) {
		t.ask = askTrust(ctx, cmd.InOrStdin(), errs)
	}
	project, err := t.loader(c.folder)
	if err != nil {
		return exit.Usage("--folder: %w", err)
	}
	sessions, err := openFile(c.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()
	return c.talk(ctx, cmd, s, project, sessions)
}

// checkNames refuses flags that were given with nothing, as by a variable of a shell that is not set: such a message would
// be no message, and such a session another one than was meant. Names that are not UTF-8 could not be told apart later.
func (c *command) checkNames(cmd *cobra.Command) error {
	for _, f := range []struct{ name, value, remedy string }{
		{"prompt", strings.TrimSpace(c.prompt), "write a message, or leave it out"},
		{"session", c.session, "name one, or leave it out for a new session"},
		{"user", c.user, "name one, or leave it out"},
	} {
		if f.value == "" && cmd.Flags().Changed(f.name) {
			return fmt.Errorf("--%s is empty: %s", f.name, f.remedy)
		}
		if f.name != "prompt" && !utf8.ValidString(f.value) {
			return fmt.Errorf("--%s is %q, which is not UTF-8: name one in UTF-8", f.name, f.value)
		}
	}
	return nil
}

// isFolder refuses a --folder that is none.
func (c *command) isFolder() error {
	name := terminal.Printable(c.folder)
	switch info, err := os.Stat(c.folder); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("--folder is %s, and there is no such folder: name another one", name)
	case err == nil && !info.IsDir():
		return fmt.Errorf("--folder is %s, which is not a folder: name a folder", name)
	}
	return nil // what else is wrong is told by who reads it
}

// setup resolves the settings, with what the flags of this command say about them.
func (c *command) setup(ctx context.Context, typed bool) (*Setup, error) {
	if c.resume && c.session != "" {
		return nil, errors.New("--resume goes on with the newest session, and --session names one: give one of them")
	}
	if c.yolo {
		c.trust = trustYes
		if c.flags.Preset.Ask == nil {
			allow := preset.AskAllow
			c.flags.Preset.Ask = &allow
		}
	}
	if c.noCheckpoint {
		off := contexttool.NoCheckpoints
		if given := c.flags.Preset.Checkpoint; given != nil && *given != off {
			return nil, fmt.Errorf("--no-checkpoint turns checkpoints off, and --checkpoint is %s: give one of them", *given)
		}
		c.flags.Preset.Checkpoint = &off
	}
	return Resolve(ctx, Request{
		Flags: c.flags, File: c.config, OneShot: c.prompt != "", Piped: !typed, Yolo: c.yolo, Window: c.window, Price: c.price,
	})
}

// openFile opens the session file, and makes it if it does not exist. A new file is for its owner alone: it has every
// word in plain text. Of folders only the usual one is made: a file that is named in one that does not exist was mistyped.
func openFile(name string) (*persistence.SQLiteSessionService, error) {
	folder := filepath.Dir(name)
	if name == defaultFile() {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, exit.Usage("the folder of the session file cannot be made; name another one with --file: %w", err)
		}
	}
	switch info, err := os.Stat(folder); {
	case errors.Is(err, os.ErrNotExist):
		return nil, exit.Usage("--file is %s, and there is no folder %s: make the folder, or name another file", terminal.Printable(name), terminal.Printable(folder))
	case err == nil && !info.IsDir():
		return nil, exit.Usage("--file is %s, and %s is not a folder: name another file", terminal.Printable(name), terminal.Printable(folder))
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return nil, exit.Usage("--file is %s, which is a folder: name a file", terminal.Printable(name))
	case err == nil && !info.Mode().IsRegular():
		return nil, exit.Usage("--file is %s, which is not a regular file: name another file", terminal.Printable(name))
	case errors.Is(err, os.ErrNotExist):
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			if at := (*os.PathError)(nil); errors.As(err, &at) {
				err = at.Err // which has the name, too
			}
			return nil, exit.Usage("--file is %s, which cannot be made: %w: name another file", terminal.Printable(name), err)
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
func (c *command) talk(ctx context.Context, cmd *cobra.Command, s *Setup, project *agentsmd.Loader, sessions *persistence.SQLiteSessionService) (err error) {
	compactions, alerts := &chat.Compactions{}, &chat.Alerts{}
	cfg, err := s.Settings.Config(s.Model)
	if err != nil {
		return exit.Usage("%w", err)
	}
	cfg.Compaction.Observer, cfg.Guard.Observer = compactions.Observe, alerts.Observe
	cfg.Compaction.Logger = slog.New(slog.DiscardHandler)
	cfg.Prompt.Project = project
	if strings.HasPrefix(s.Model.Name(), scriptedPrefix) {
		cfg.Compaction.Summarizer = summarizer.Extractive{} // a script does not summarize
	}
	stack, err := longsession.New(sessions, cfg)
	if err != nil {
		return exit.Usage("%w", c.inFlags(err))
	}
	defer func() { err = closeStack(ctx, stack, err) }()
	folder := c.folder
	if c.noTools {
		folder = ""
	}
	w, err := newWorker(ctx, stack, s, folder, !c.noTools && !c.noWeb)
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
		NoCheckpoint: s.Settings.Checkpoint.Value == contexttool.NoCheckpoints, NoStream: c.noStream,
	})
	if err != nil {
		return exit.Usage("%w", err)
	}
	if s.Settings.Model.Source == preset.FromApp && c.prompt == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "No key is set, so a scripted model answers. For a real one, set GEMINI_API_KEY or give --base-url and --model.")
	}
	return ended(talk.Run(ctx), c.file)
}

// closeStack stores what waits. A chat that has ended by itself has waited for its summaries already; one that was
// interrupted gives up those that are still being written, so that a summarizer which hangs keeps nobody waiting.
func closeStack(ctx context.Context, stack *longsession.Stack, err error) error {
	closing := context.WithoutCancel(ctx)
	if ctx.Err() == nil && exit.CodeOf(ctx, err) != exit.CodeInterrupted {
		return errors.Join(err, stack.Close(closing))
	}
	closing, cancel := context.WithTimeout(closing, time.Second)
	defer cancel()
	_ = stack.Close(closing) // what it gives up can be written again
	return err
}

// ended gives the end of a chat its exit code. file is the session file.
func ended(err error, file string) error {
	var inUse *sessionlock.InUseError
	switch {
	case errors.Is(err, chat.ErrInterrupted):
		return exit.Interrupted("everything stored so far is kept")
	case errors.Is(err, guard.ErrStopped):
		return &exit.Error{Code: exit.CodeFindings, Err: err}
	case errors.As(err, &inUse):
		return exit.Usage("%w", err)
	case errors.Is(err, chat.ErrUnreadable):
		return exit.Usage("%w: 'longsession audit verify %s' says what is damaged; other sessions of the file can be talked in", err, terminal.Printable(file))
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
