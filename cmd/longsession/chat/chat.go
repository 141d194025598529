package chat

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/runner"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/input"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/slash"
	"github.com/adk-go-ext/longsession/compaction"
)

// errLeave ends the loop of a chat: the person wants to leave.
var errLeave = errors.New("leave")

// ErrInterrupted is the error of [Chat.Run] when the person pressed Ctrl-C a second time while something was still
// running, or in a chat that is fed by a pipe or by Config.Prompt.
var ErrInterrupted = errors.New("chat: interrupted")

// ErrUnreadable is in the error of a session that the session service neither returns nor creates, such as one that is
// damaged.
var ErrUnreadable = errors.New("can be neither read nor created")

// ErrNoSession is the error of a chat that should resume a session where there is none.
var ErrNoSession = errors.New("no session to resume")

// Chat is a conversation of one person with an agent. Use it from one goroutine.
type Chat struct {
	cfg       Config
	runner    *runner.Runner
	reader    input.Reader
	screen    *screen
	interrupt *interrupts
	commands  []command
	attended  bool // a person reads what is shown, and can answer

	ref     compaction.SessionRef // the session that is talked in now
	release func()                // its lock
	// undecided are the confirmations that the session waits for since before the chat.
	undecided []*genai.FunctionCall
	worked    bool // something was written since the chat began, so summaries may be on their way
	// finishes is true once a response has said why it ended, and for Gemini: responses that do not say it were cut.
	finishes bool
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
	c.attended = isTerminal(cfg.In) && isTerminal(cfg.Err)
	c.commands = allCommands(c.cfg)
	return c, nil
}

// Run talks until the input ends or the person leaves, and returns nil then. Otherwise its error is
//
//   - that of the session, if it cannot be opened or is in use,
//   - [ErrInterrupted]: the person does not want to wait, so close the stack with a context that ends soon,
//   - that of the last turn, if nobody is there to read it: with Config.Prompt, or if In is no terminal. A chat that a
//     pipe feeds ends with the first turn that fails.
//
// Whatever happens, what was stored stays stored, and the session can be resumed.
func (c *Chat) Run(ctx context.Context) error {
	c.interrupt = listen(c.cfg.Interrupts)
	defer c.interrupt.stop()
	defer func() { c.release() }()
	ref := c.cfg.Session
	var err error
	if c.cfg.Resume {
		ref, err = c.cfg.newest(ctx, "")
	}
	if err == nil {
		err = c.open(ctx, ref)
	}
	if err != nil {
		return err
	}
	defer c.listenToLayers()()
	err = c.talk(ctx)
	if errors.Is(err, errLeave) {
		err = nil
	}
	if !errors.Is(err, ErrInterrupted) && !errors.Is(err, errCanceled) {
		if left := c.leave(ctx); err == nil {
			err = left
		}
	}
	if errors.Is(err, errCanceled) {
		return ErrInterrupted
	}
	return err
}

// talk sends the one message of the config, or reads messages.
func (c *Chat) talk(ctx context.Context) error {
	if c.cfg.Prompt != "" {
		return c.say(ctx, c.cfg.Prompt)
	}
	if c.reader == nil {
		reader, err := input.New(input.Config{In: c.cfg.In, Err: c.cfg.Err, HistoryFile: c.cfg.HistoryFile, Complete: c.complete})
		if err != nil {
			return err
		}
		c.reader = reader
	}
	err := c.loop(ctx)
	return errors.Join(err, c.reader.Close())
}

// leave waits for summaries that are being written, so that they are stored while the session is still locked. Ctrl-C
// gives them up, with ErrInterrupted: the history stays as it is then.
func (c *Chat) leave(ctx context.Context) error {
	if c.cfg.Stack == nil || !c.worked || ctx.Err() != nil {
		return nil
	}
	status, err := c.cfg.Stack.Sessions.Status(ctx, c.ref)
	if err != nil || !status.Running && status.WaitingSummaries == 0 {
		c.tellCompactions(ctx) // of one that has ended since the last turn
		return nil             // a session that cannot be read was complained about before
	}
	if c.attended {
		c.screen.note("A summary is being written. Ctrl-C drops it.")
	}
	err = c.interrupt.during(ctx, func(ctx context.Context) error {
		defer c.screen.wait("summarizing")()
		return c.cfg.Stack.Sessions.Flush(ctx, c.ref)
	}, func() {})
	c.tellCompactions(ctx)
	if errors.Is(err, errCanceled) {
		c.screen.note("The summary was dropped. The conversation is stored in full.")
	}
	return err
}

// loop reads messages and answers them.
func (c *Chat) loop(ctx context.Context) error {
	for {
		if err := c.askUndecided(ctx); err != nil {
			return err
		}
		c.tellCompactions(ctx)
		text, err := c.read(ctx, "> ")
		switch {
		case errors.Is(err, input.ErrInterrupted), errors.Is(err, io.EOF):
			return errLeave // only here: a turn may fail with the end of a file, too
		case err != nil:
			return err
		}
		if err := c.answer(ctx, text); err != nil {
			return err
		}
		if err := c.screen.failure(); err != nil {
			return err
		}
	}
}

// read waits for a message. Without a terminal, Ctrl-C ends the chat.
func (c *Chat) read(ctx context.Context, prompt string) (string, error) {
	var text string
	defer c.screen.hold()()
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
	return c.survive(c.say(ctx, text))
}

// say runs the command that a text is, or sends it to the agent.
func (c *Chat) say(ctx context.Context, text string) error {
	if !utf8.ValidString(text) { // models and session services take UTF-8 only
		text = strings.ToValidUTF8(text, "\uFFFD")
		c.screen.note("The message has bytes that are not UTF-8. Each run of them is replaced by \uFFFD.")
	}
	name, args, isCommand := slash.Parse(text)
	if !isCommand || c.changes(name) {
		c.worked = true
	}
	return c.work(ctx, func(ctx context.Context) error {
		if isCommand {
			return c.execute(ctx, name, args)
		}
		return c.turn(ctx, genai.NewContentFromText(text, genai.RoleUser))
	})
}

// survive shows an error to the person at the terminal, who decides what to do. Without a terminal nobody would, so
// the error ends the chat.
func (c *Chat) survive(err error) error {
	switch {
	case err == nil, errors.Is(err, errLeave), errors.Is(err, ErrInterrupted), !c.attended:
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

// changes reports whether a command writes to the session, so that summaries may be on their way afterwards.
func (c *Chat) changes(name string) bool {
	return slices.ContainsFunc(c.commands, func(cmd command) bool {
		return cmd.Is(name) && slices.Contains([]string{"compact", "done", "guard", "resume-after-cost-ceiling"}, cmd.Name)
	})
}

// execute runs a command by its name.
func (c *Chat) execute(ctx context.Context, name, args string) error {
	for _, cmd := range c.commands {
		if cmd.Is(name) {
			defer c.screen.wait("/" + cmd.Name)() // a long session takes seconds to search
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
	resumed, err := c.cfg.openSession(ctx, ref)
	if err != nil {
		release()
		return err
	}
	c.release()
	c.ref, c.release, c.undecided = ref, release, nil
	if resumed != nil {
		c.showResumed(resumed)
	}
	return nil
}
