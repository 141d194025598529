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

// table prints one line per turn, comparing what the model saw with what is stored.
type table struct {
	out         io.Writer
	turns       int
	prompt      int // tokens of the latest request
	answer      string
	compactions atomic.Int64
	merges      atomic.Int64

	stored               int
	largest, uncompacted int
}

// Observe counts stored records.
func (t *table) Observe(_ context.Context, o compaction.Observation) {
	switch {
	case o.Outcome != compaction.Stored:
	case o.Trigger == record.TriggerMerge: // of summaries, to make room for others
		t.merges.Add(1)
	default:
		t.compactions.Add(1)
	}
}

// heard keeps the desk's newest answer.
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
	for _, ev := range history[:len(history)-1] { // the newest event is the answer to the prompt
		whole += tokens.OfEvent(ev)
	}
	t.stored = status.StoredEvents
	t.largest, t.uncompacted = max(t.largest, t.prompt), max(t.uncompacted, whole)
	fmt.Fprintf(t.out, " %4d | %6d | %9d | %7d | %6d | %11d | %s\n",
		t.turns, t.prompt, whole, status.VisibleEvents, status.StoredEvents, t.compactions.Load(), excerpt(question))
	return nil
}

// whatTheModelSees is the SQL query for the view.
const whatTheModelSees = "SELECT seq, author, substr(coalesce(text, calls, responses), 1, 80) AS said FROM context"

func (t *table) whereToLook(file string) {
	quoted := "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	fmt.Fprintf(t.out, "The session stays in %s\n", file)
	fmt.Fprintf(t.out, "To see what the model sees of it now (or all of it: history instead of context):\n")
	fmt.Fprintf(t.out, "  sqlite3 -readonly -box %s \"%s\"\n\n", quoted, whatTheModelSees)
}

func (t *table) lastLine() {
	fmt.Fprintf(t.out, "quickstart ok: %d turns, %d events stored, %d compactions and %d merges, largest prompt %d tokens (uncompacted %d)\n",
		t.turns, t.stored, t.compactions.Load(), t.merges.Load(), t.largest, t.uncompacted)
}

// conversationOf returns the full history without compaction records.
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
