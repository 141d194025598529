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
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/record"
)

// searchHistory finds what was said, for a person: in all branches, also where the prompt shows it.
func searchHistory(ctx context.Context, c *Chat, words string, w io.Writer) error {
	if words == "" {
		return errors.New("write what to look for, such as /recall invoice number")
	}
	searcher := c.cfg.Stack.Recall
	if searcher == nil {
		var err error
		if searcher, err = recall.New(c.cfg.Stack.Sessions, recall.Config{}); err != nil {
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

// showTools lists the tools of the agent, or those of the stack if the app has not named the agent's.
func showTools(_ context.Context, c *Chat, _ string, w io.Writer) error {
	tools := c.cfg.Tools
	if tools == nil && c.cfg.Stack != nil {
		tools = c.cfg.Stack.Tools()
	}
	tools = withRecall(tools, c.cfg.Stack)
	if c.cfg.NoCheckpoint {
		tools = slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool { return t.Name() == contexttool.MarkTaskDoneName })
	}
	if len(tools) == 0 {
		_, err := fmt.Fprintln(w, "The agent has no tools.")
		return err
	}
	const column = 22
	shown := terminal.Of(c.cfg.Out)
	for _, t := range tools {
		name := terminal.Printable(t.Name())
		about, _, _ := strings.Cut(oneLine(t.Description()), ". ") // the first sentence says what it is for
		about = terminal.Shorten(terminal.Printable(strings.TrimSuffix(about, ".")), max(shown.Width()-column, terminal.Narrowest))
		if _, err := fmt.Fprintf(w, "  %-*s%s\n", column-2, name, about); err != nil {
			return err
		}
	}
	return nil
}

// withRecall adds the tools by which the agent searches earlier messages, which it has from the first summary on. An
// agent with a tool of one of their names has neither.
func withRecall(tools []tool.Tool, stack *longsession.Stack) []tool.Tool {
	if stack == nil || stack.Recall == nil {
		return tools
	}
	offered := stack.Recall.Tools()
	for _, t := range tools {
		if slices.ContainsFunc(offered, func(one tool.Tool) bool { return one.Name() == t.Name() }) {
			return tools
		}
	}
	return slices.Concat(tools, offered)
}

// listed is a session of the person.
type listed struct {
	id       string
	updated  time.Time
	subtasks int
}

// list returns the sessions of the person, the newest first. The sessions of subtasks are part of their parents.
func (c *Config) list(ctx context.Context) ([]listed, error) {
	resp, err := c.sessions().List(ctx, &session.ListRequest{AppName: c.Session.AppName, UserID: c.Session.UserID})
	if err != nil {
		return nil, fmt.Errorf("the sessions cannot be listed: %w", err)
	}
	var all []listed
	subtasks := map[string]int{}
	for _, s := range resp.Sessions {
		if parent, _, ok := strings.Cut(s.ID(), ":sub:"); ok {
			subtasks[parent]++
		} else {
			all = append(all, listed{id: s.ID(), updated: s.LastUpdateTime()})
		}
	}
	for i := range all {
		all[i].subtasks = subtasks[all[i].id]
	}
	slices.SortStableFunc(all, func(a, b listed) int {
		return cmp.Or(b.updated.Compare(a.updated), strings.Compare(a.id, b.id))
	})
	return all, nil
}

func showSessions(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	all, err := c.cfg.list(ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range all {
		mark := "  "
		if s.id == c.ref.SessionID {
			mark = "* "
		}
		fmt.Fprintf(&b, "%s%s  %s", mark, s.updated.Local().Format(time.DateTime), terminal.Printable(s.id))
		if s.subtasks > 0 {
			fmt.Fprintf(&b, "  (%s)", terminal.Plural(s.subtasks, "subtask"))
		}
		b.WriteByte('\n')
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// resume goes on with a session that exists: the newest other one, or the one that is named, by the beginning of its ID
// if no other begins so.
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
	ref := c.ref
	if ref.SessionID, err = choose(all, ref.SessionID, id); err != nil {
		return err
	}
	return c.open(ctx, ref)
}

// choose returns the session that a person in the session now means by an ID or the beginning of one.
func choose(all []listed, now, id string) (string, error) {
	var begin []string
	for _, s := range all {
		switch {
		case s.id == now && s.id == id:
			return "", fmt.Errorf("you are in session %q already", id)
		case s.id == id:
			return id, nil
		case s.id != now && strings.HasPrefix(s.id, id):
			begin = append(begin, s.id)
		}
	}
	switch len(begin) {
	case 0:
		return "", fmt.Errorf("there is no session %q: /sessions lists them", id)
	case 1:
		return begin[0], nil
	}
	return "", fmt.Errorf("%d sessions begin with %q: write more of the ID; /sessions lists them", len(begin), id)
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

// defaultMessages is how many messages /history shows.
const defaultMessages = 10

// showHistory writes the newest messages of people and agents, also those that a summary has replaced in prompts.
func showHistory(ctx context.Context, c *Chat, args string, w io.Writer) error {
	n := defaultMessages
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return fmt.Errorf("%q is no number of messages: write it as in /history 20", args)
		}
	}
	messages, err := newestMessages(ctx, c, n)
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		_, err = fmt.Fprintln(w, "Nothing has been said yet.")
		return err
	}
	for _, text := range messages {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// newestMessages returns the newest messages, the oldest of them first. It reads only as much of a long session as it
// takes.
func newestMessages(ctx context.Context, c *Chat, n int) ([]string, error) {
	get := c.cfg.sessions().Get
	if c.cfg.Stack != nil {
		get = c.cfg.Stack.Sessions.Raw
	}
	for recent := 16 * min(n, 1<<20); ; recent *= 8 {
		resp, err := get(ctx, &session.GetRequest{AppName: c.ref.AppName, UserID: c.ref.UserID, SessionID: c.ref.SessionID, NumRecentEvents: recent})
		if err != nil {
			return nil, err
		}
		var messages []string
		for ev := range resp.Session.Events().All() {
			if text := strings.TrimSpace(textOf(ev.Content)); text != "" && !record.Is(ev) {
				messages = append(messages, fmt.Sprintf("%s  %s: %s", ev.Timestamp.Local().Format(time.DateTime), ev.Author, text))
			}
		}
		if len(messages) >= n || resp.Session.Events().Len() < recent {
			return messages[max(0, len(messages)-n):], nil
		}
	}
}
