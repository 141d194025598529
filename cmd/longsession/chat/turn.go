package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// turn sends a message and shows the answer. It asks the person about tools that need a confirmation, and goes on with
// what they decide.
func (c *Chat) turn(ctx context.Context, msg *genai.Content) error {
	for msg != nil {
		asked, err := c.run(ctx, msg)
		if err != nil {
			return err
		}
		if msg, err = c.decide(ctx, asked); err != nil {
			return err
		}
	}
	c.showUse()
	c.tellCompactions(ctx)
	return nil
}

// run sends one message, shows the events as they come, and returns the calls that wait for the person.
func (c *Chat) run(ctx context.Context, msg *genai.Content) (asked []*genai.FunctionCall, err error) {
	a := answer{screen: c.screen, root: c.cfg.Agent.Name(), finishes: c.finishes}
	a.waits("thinking")
	defer func() {
		a.stopWaiting()
		a.end()
		c.awaitAlerts(ctx)
		c.finishes = a.finishes
		if lost := c.cfg.keep(ctx, c.ref, a.half(ctx)); lost != nil {
			c.screen.note(fmt.Sprintf("What was shown of the answer could not be stored, so the model will not know it: %v.", lost))
		}
	}()
	mode := agent.StreamingModeSSE
	if c.cfg.NoStream {
		mode = agent.StreamingModeNone
	}
	for ev, err := range c.runner.Run(ctx, c.ref.UserID, c.ref.SessionID, msg, agent.RunConfig{StreamingMode: mode}) {
		switch {
		case err != nil:
			return nil, err // not the next event: ADK would go on with the agent
		case ev == nil:
			continue
		}
		asked = append(asked, a.show(ev)...)
		if err := c.screen.failure(); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if a.failure != nil {
		return nil, errors.Join(c.cfg.stopped(ctx, c.ref), a.failure)
	}
	return asked, nil
}

// stopped is the error of the guard, if the session may not go on. A guard that reports its stops as events gives them
// to the agent's answer as text only.
func (c *Config) stopped(ctx context.Context, ref compaction.SessionRef) error {
	if c.Stack == nil || c.Stack.Guard == nil {
		return nil
	}
	used, err := c.Stack.Guard.Usage(ctx, c.sessions(), ref)
	if err != nil || used.Stopped == nil {
		return nil
	}
	return used.Stopped
}

// keepTimeout is how long the session service may take to store half an answer.
const keepTimeout = 5 * time.Second

// keep stores what was shown of an answer that was cut off, because ADK stores whole answers only: the next message of
// the person may be about it. half is nil if there is none.
func (c *Config) keep(ctx context.Context, ref compaction.SessionRef, half *session.Event) error {
	if half == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	got, err := c.sessions().Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return err
	}
	return c.sessions().AppendEvent(ctx, got.Session, half)
}
