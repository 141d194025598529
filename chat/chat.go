package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/chat/internal/input"
	"github.com/adk-go-ext/longsession/chat/internal/slash"
	"github.com/adk-go-ext/longsession/compaction"
)

// errLeave ends the loop of a chat: the person wants to leave.
var errLeave = errors.New("leave")

// ErrInterrupted is the error of [Chat.Run] when the person pressed Ctrl-C a second time while something was still
// running, or in a chat without a terminal.
var ErrInterrupted = errors.New("chat: interrupted")

// Chat is a conversation of one person with an agent. Use it from one goroutine.
type Chat struct {
	cfg       Config
	runner    *runner.Runner
	reader    input.Reader
	screen    *screen
	interrupt *interrupts
	commands  []command

	ref     compaction.SessionRef // the session that is talked in now
	release func()                // its lock
}

// command is a slash command and its work. run writes to w what the person sees. Its error is shown to them, and the
// chat goes on; errLeave ends it.
type command struct {
	slash.Command
	run work
}

// New returns a chat. The error joins what is wrong with the config, each a [*ConfigError], or is that of ADK's runner.
func New(cfg Config) (*Chat, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	run, err := runner.New(runner.Config{
		AppName: cfg.Session.AppName, Agent: cfg.Agent, SessionService: cfg.sessions(),
		ArtifactService: cfg.Artifacts, MemoryService: cfg.Memory, PluginConfig: cfg.plugins(),
	})
	if err != nil {
		return nil, err
	}
	c := &Chat{cfg: cfg, runner: run, screen: newScreen(cfg.Out, cfg.Err), release: func() {}}
	c.commands = c.allCommands()
	return c, nil
}

// Run talks until the input ends or the person leaves, and returns nil then. Otherwise its error is
//
//   - that of the session, if it cannot be opened or is in use,
//   - [ErrInterrupted],
//   - that of the last turn, if nobody is there to read it: with Config.Prompt, or if In is no terminal. A chat that a
//     pipe feeds ends with the first turn that fails.
//
// Whatever happens, what was stored stays stored, and the session can be resumed.
func (c *Chat) Run(ctx context.Context) error {
	c.interrupt = listen(c.cfg.Interrupts)
	defer c.interrupt.stop()
	defer func() { c.release() }()
	if err := c.open(ctx, c.cfg.Session); err != nil {
		return err
	}
	if c.cfg.Prompt != "" {
		return c.work(ctx, func(ctx context.Context) error {
			return c.turn(ctx, genai.NewContentFromText(c.cfg.Prompt, genai.RoleUser))
		})
	}
	reader, err := input.New(input.Config{In: c.cfg.In, Err: c.cfg.Err, HistoryFile: c.cfg.HistoryFile, Complete: c.complete})
	if err != nil {
		return err
	}
	c.reader = reader
	defer func() { _ = reader.Close() }()
	err = c.loop(ctx)
	if errors.Is(err, errLeave) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// loop reads messages and answers them.
func (c *Chat) loop(ctx context.Context) error {
	leaving := false // the last thing the person did was Ctrl-C on an empty message
	for {
		c.tellCompactions(ctx)
		text, err := c.read(ctx, "> ")
		switch {
		case errors.Is(err, input.ErrInterrupted) && !leaving:
			leaving = true
			c.screen.note("Press Ctrl-C again, or Ctrl-D, to leave.")
			continue
		case errors.Is(err, input.ErrInterrupted):
			return errLeave
		case err != nil:
			return err
		}
		leaving = false
		if err := c.answer(ctx, text); err != nil {
			return err
		}
	}
}

// read waits for a message. Without a terminal, Ctrl-C ends the chat.
func (c *Chat) read(ctx context.Context, prompt string) (string, error) {
	var text string
	err := c.interrupt.during(ctx, func(ctx context.Context) (err error) {
		text, err = c.reader.Read(ctx, prompt)
		return err
	}, func() {})
	if errors.Is(err, errCanceled) {
		return "", ErrInterrupted
	}
	return text, err
}

// answer runs what one message asks for. It returns an error only if the chat has to end.
func (c *Chat) answer(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if name, args, ok := slash.Parse(text); ok {
		return c.survive(c.work(ctx, func(ctx context.Context) error { return c.execute(ctx, name, args) }))
	}
	return c.survive(c.work(ctx, func(ctx context.Context) error {
		return c.turn(ctx, genai.NewContentFromText(text, genai.RoleUser))
	}))
}

// survive shows an error to the person at the terminal, who decides what to do. Without a terminal nobody would, so
// the error ends the chat.
func (c *Chat) survive(err error) error {
	switch {
	case err == nil, errors.Is(err, errLeave), errors.Is(err, ErrInterrupted), !c.screen.attended(c.cfg.In):
		return err
	case errors.Is(err, errCanceled):
		return nil // the screen has told the person
	}
	c.screen.fail(err)
	return nil
}

// work runs something that Ctrl-C cancels.
func (c *Chat) work(ctx context.Context, f func(ctx context.Context) error) error {
	err := c.interrupt.during(ctx, f, func() {
		c.screen.note("Interrupted. Everything stored so far is kept. Press Ctrl-C again to leave at once.")
	})
	if errors.Is(err, ErrInterrupted) {
		c.screen.close()
	}
	return err
}

// execute runs a command by its name.
func (c *Chat) execute(ctx context.Context, name, args string) error {
	for _, cmd := range c.commands {
		if cmd.Is(name) {
			return cmd.run(ctx, c, args, c.screen.printed())
		}
	}
	return slash.Unknown(name, c.known())
}

// open begins or resumes a session, and leaves the one before. On an error the chat stays where it was.
func (c *Chat) open(ctx context.Context, ref compaction.SessionRef) error {
	if ref.SessionID == "" {
		ref.SessionID = newSessionID()
	}
	release := func() {}
	if c.cfg.Lock != nil {
		var err error
		if release, err = c.cfg.Lock(ctx, ref); err != nil {
			return err
		}
	}
	resumed, err := c.openSession(ctx, ref)
	if err != nil {
		release()
		return err
	}
	c.release()
	c.ref, c.release = ref, release
	if resumed != nil {
		c.showResumed(ctx, resumed)
	}
	return nil
}

// openSession returns the session that is there, or nil for one that it has created.
func (c *Chat) openSession(ctx context.Context, ref compaction.SessionRef) (session.Session, error) {
	got, err := c.cfg.sessions().Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err == nil && got != nil && got.Session != nil {
		return got.Session, nil
	}
	_, created := c.cfg.sessions().Create(ctx, &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if created != nil {
		return nil, fmt.Errorf("session %s can be neither read nor created: %w", ref.SessionID, errors.Join(err, created))
	}
	return nil, nil
}
