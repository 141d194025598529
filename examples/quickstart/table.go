package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// table prints one line per turn: what the model saw against what is stored.
type table struct {
	out         io.Writer
	turns       int
	prompt      int // of the latest request
	answer      string
	compactions atomic.Int64

	stored               int
	largest, uncompacted int
}

// Observe counts the records that were stored.
func (t *table) Observe(_ context.Context, o compaction.Observation) {
	if o.Outcome == compaction.Stored {
		t.compactions.Add(1)
	}
}

// heard remembers the newest thing the desk said.
func (t *table) heard(ev *session.Event) {
	if text := textOf(ev); text != "" {
		t.answer = text
	}
}

func (t *table) header(model string) {
	fmt.Fprintf(t.out, "A support desk, one customer, %d turns. The agent's model: %s.\n\n", len(conversation), model)
	fmt.Fprintf(t.out, "      |   prompt, tokens   |      events      |             |\n")
	fmt.Fprintf(t.out, " turn |   seen | all of it | visible | stored | compactions | the customer\n")
	fmt.Fprintf(t.out, "------+--------+-----------+---------+--------+-------------+%s\n", "-----------------------------------")
}

func (t *table) row(ctx context.Context, svc *compaction.CompactionSessionService, question string) error {
	t.turns++
	status, err := svc.Status(ctx, ref)
	if err != nil {
		return err
	}
	history, err := conversationOf(ctx, svc)
	if err != nil {
		return err
	}
	whole := 0
	for _, ev := range history[:len(history)-1] { // the newest is the answer to the prompt
		whole += tokens.OfEvent(ev)
	}
	t.stored = status.StoredEvents
	t.largest, t.uncompacted = max(t.largest, t.prompt), max(t.uncompacted, whole)
	fmt.Fprintf(t.out, " %4d | %6d | %9d | %7d | %6d | %11d | %s\n",
		t.turns, t.prompt, whole, status.VisibleEvents, status.StoredEvents, t.compactions.Load(), excerpt(question))
	return nil
}

// whatTheModelSees asks the session file for the view, as SQL.
const whatTheModelSees = "SELECT seq, author, substr(coalesce(text, calls, responses), 1, 80) AS said FROM context"

func (t *table) whereToLook(file string) {
	quoted := "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	fmt.Fprintf(t.out, "The session stays in %s\n", file)
	fmt.Fprintf(t.out, "To see what the model sees of it now (or all of it: history instead of context):\n")
	fmt.Fprintf(t.out, "  sqlite3 -readonly -box %s \"%s\"\n\n", quoted, whatTheModelSees)
}

func (t *table) lastLine() {
	fmt.Fprintf(t.out, "quickstart ok: %d turns, %d events stored, %d compactions, largest prompt %d tokens (uncompacted %d)\n",
		t.turns, t.stored, t.compactions.Load(), t.largest, t.uncompacted)
}

// conversationOf returns the full history without the records of the compactions.
func conversationOf(ctx context.Context, svc *compaction.CompactionSessionService) ([]*session.Event, error) {
	raw, err := svc.Raw(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return nil, err
	}
	var events []*session.Event
	for ev := range raw.Session.Events().All() {
		if !record.Is(ev) {
			events = append(events, ev)
		}
	}
	return events, nil
}

func textOf(ev *session.Event) string {
	if ev.Content == nil {
		return ""
	}
	text := ""
	for _, part := range ev.Content.Parts {
		text += part.Text
	}
	return text
}

func excerpt(s string) string {
	const width = 34
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
