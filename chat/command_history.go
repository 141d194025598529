package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/recall"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// searchHistory finds what was said, for a person: in all branches, also where the prompt shows it.
func searchHistory(ctx context.Context, c *Chat, words string, w io.Writer) error {
	if words == "" {
		return errors.New("write what to look for, such as /recall invoice number")
	}
	searcher := c.cfg.Stack.Recall
	if searcher == nil {
		var err error
		if searcher, err = recall.New(c.cfg.Stack.Sessions, recall.Config{Enabled: true}); err != nil {
			return err
		}
	}
	found, err := searcher.Search(ctx, c.ref, recall.Query{Text: words, Shown: true})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err = fmt.Fprintln(w, "Nothing was found.")
		return err
	}
	for i, passage := range found {
		if i > 0 {
			_, _ = fmt.Fprintln(w)
		}
		for _, line := range passage.Lines {
			mark := "  "
			if line.Found {
				mark = "> "
			}
			_, _ = fmt.Fprintln(w, mark+line.String())
		}
	}
	return nil
}

// showResult writes a whole tool result.
func showResult(ctx context.Context, c *Chat, ref string, w io.Writer) error {
	if ref == "" {
		return errors.New("name the reference of a result, as its shortened form shows it: /result REF")
	}
	reader, size, err := c.cfg.Stack.OpenResult(ctx, c.ref, ref)
	if errors.Is(err, store.ErrUnknownRef) {
		return fmt.Errorf("this session has no result %q", ref)
	}
	if err != nil {
		return err
	}
	if _, err = io.Copy(w, io.NewSectionReader(reader, 0, size)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w)
	return err
}

func showTools(_ context.Context, c *Chat, _ string, w io.Writer) error {
	tools := c.cfg.Tools
	if tools == nil && c.cfg.Stack != nil {
		tools = c.cfg.Stack.Tools()
	}
	if len(tools) == 0 {
		_, err := fmt.Fprintln(w, "The agent has no tools.")
		return err
	}
	for _, t := range tools {
		_, _ = fmt.Fprintf(w, "  %-20s %s\n", t.Name(), terminal.Shorten(oneLine(t.Description()), 90))
	}
	return nil
}

func showSessions(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	all, err := c.cfg.list(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		mark := "  "
		if s.ID() == c.ref.SessionID {
			mark = "* "
		}
		_, _ = fmt.Fprintf(w, "%s%s  %s\n", mark, terminal.Printable(s.ID()), s.LastUpdateTime().Local().Format(time.DateTime))
	}
	return nil
}

// list returns the sessions of the person, the newest first. Those of subtasks are part of their parents.
func (c *Config) list(ctx context.Context) ([]session.Session, error) {
	resp, err := c.sessions().List(ctx, &session.ListRequest{AppName: c.Session.AppName, UserID: c.Session.UserID})
	if err != nil {
		return nil, fmt.Errorf("the sessions cannot be listed: %w", err)
	}
	all := slices.DeleteFunc(slices.Clone(resp.Sessions), func(s session.Session) bool { return strings.Contains(s.ID(), ":sub:") })
	slices.SortStableFunc(all, func(a, b session.Session) int {
		return cmp.Or(b.LastUpdateTime().Compare(a.LastUpdateTime()), strings.Compare(a.ID(), b.ID()))
	})
	return all, nil
}

// resume goes on with a session that exists.
func resume(ctx context.Context, c *Chat, id string, _ io.Writer) error {
	if id == "" {
		ref, err := c.cfg.newest(ctx, c.ref.SessionID)
		if err != nil {
			return err
		}
		return c.open(ctx, ref)
	}
	all, err := c.cfg.list(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(s session.Session) bool { return s.ID() == id }) {
		return fmt.Errorf("there is no session %q: /sessions lists them", id)
	}
	if id == c.ref.SessionID {
		return fmt.Errorf("you are in session %q already", id)
	}
	ref := c.ref
	ref.SessionID = id
	return c.open(ctx, ref)
}

// begin starts a new session.
func begin(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	ref := c.ref
	ref.SessionID = ""
	if err := c.open(ctx, ref); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Session %s\n", c.ref.SessionID)
	return err
}

// showHistory writes the newest messages of people and agents.
func showHistory(ctx context.Context, c *Chat, args string, w io.Writer) error {
	n := 10
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return fmt.Errorf("%q is no number of messages: write it as in /history 20", args)
		}
	}
	svc := c.cfg.sessions()
	get := svc.Get
	if c.cfg.Stack != nil {
		get = c.cfg.Stack.Sessions.Raw
	}
	resp, err := get(ctx, &session.GetRequest{AppName: c.ref.AppName, UserID: c.ref.UserID, SessionID: c.ref.SessionID})
	if err != nil {
		return err
	}
	var lines []string
	for ev := range resp.Session.Events().All() {
		if text := textOf(ev.Content); text != "" {
			lines = append(lines, fmt.Sprintf("%s  %s: %s", ev.Timestamp.Local().Format(time.DateTime), ev.Author, strings.TrimSpace(text)))
		}
	}
	for _, line := range lines[max(0, len(lines)-n):] {
		_, _ = fmt.Fprintln(w, line)
	}
	return nil
}
