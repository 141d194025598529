package chat

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/record"
)

// newSessionID returns an ID that people can type, and that sorts by time: chat-20060102-150405-3f9a.
func newSessionID() string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // it never fails
	return fmt.Sprintf("chat-%s-%x", time.Now().Format("20060102-150405"), b)
}

// showUse writes how much of the context window is used.
func (c *Chat) showUse() {
	if c.cfg.Stack == nil {
		return
	}
	if line := c.cfg.Stack.Tracker(c.ref).Line(); line != "" {
		c.screen.note(line)
	}
}

// longestShown is how many columns of a message of the last exchange are shown.
const longestShown = 400

// showResumed shows the last exchange of a session, and what a guard still holds.
func (c *Chat) showResumed(s session.Session) {
	c.screen.note(fmt.Sprintf("Session %s", c.ref.SessionID))
	c.undecided = undecidedIn(s.Events())
	var asked, answered string
	for ev := range s.Events().All() {
		text := textOf(ev.Content)
		switch {
		case text == "" || ev.Partial || record.Is(ev):
		case ev.Author == genai.RoleUser:
			asked, answered = text, ""
		default:
			answered = text
		}
	}
	if asked != "" {
		c.screen.note("> " + terminal.Shorten(oneLine(asked), longestShown))
	}
	if answered != "" {
		c.screen.note(terminal.Shorten(oneLine(answered), longestShown))
	}
	if c.cfg.Stack == nil || c.cfg.Stack.Guard == nil {
		return
	}
	if stop := guard.Refuses(c.cfg.Stack.Guard, s); stop != nil {
		c.screen.note(fmt.Sprintf("This session is stopped: %v. /resume-after-cost-ceiling +usd lets it go on.", stop))
	}
}

// textOf is what a content says.
func textOf(content *genai.Content) string {
	if content == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range content.Parts {
		if part != nil && !part.Thought {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// mostRecent is how many of the newest events are read before the prompt, to show the last exchange and to ask what the
// session waits for. All that the model sees may be the whole of a long history.
const mostRecent = 200

// openSession returns the session that is there, with its newest events as they are stored, or nil for one that it has
// created. The newest message of the person is among the events, unless there is none.
func (c *Config) openSession(ctx context.Context, ref compaction.SessionRef) (session.Session, error) {
	get := c.sessions().Get
	if c.Stack != nil {
		get = c.Stack.Sessions.Raw
	}
	for recent := mostRecent; ; recent *= 8 {
		got, err := get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID, NumRecentEvents: recent})
		if err != nil || got == nil || adk.IsNil(got.Session) {
			return nil, c.create(ctx, ref, err)
		}
		if events := got.Session.Events(); events.Len() < recent || hasMessage(events) {
			return got.Session, nil
		}
	}
}

// create makes a session, which could not be read because of an error.
func (c *Config) create(ctx context.Context, ref compaction.SessionRef, unread error) error {
	_, err := c.sessions().Create(ctx, &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	switch {
	case err == nil:
		return nil
	case unread != nil:
		return fmt.Errorf("session %s %w: %w; %w", ref.SessionID, ErrUnreadable, unread, err)
	}
	return fmt.Errorf("session %s %w: %w", ref.SessionID, ErrUnreadable, err)
}

// hasMessage reports whether a message of the person is among the events.
func hasMessage(events session.Events) bool {
	for ev := range events.All() {
		if ev.Author == genai.RoleUser && textOf(ev.Content) != "" && !record.Is(ev) {
			return true
		}
	}
	return false
}

// newest is the session of the person in which something has happened last, apart from one.
func (c *Config) newest(ctx context.Context, apart string) (compaction.SessionRef, error) {
	ref := c.Session
	all, err := c.list(ctx)
	if err != nil {
		return ref, err
	}
	i := slices.IndexFunc(all, func(s listed) bool { return s.id != apart })
	if i < 0 {
		return ref, fmt.Errorf("%w: %s has no other session", ErrNoSession, terminal.Printable(ref.UserID))
	}
	ref.SessionID = all[i].id
	return ref, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
