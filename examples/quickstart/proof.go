package main

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// proof shows that storage has every question, in order and word for word, and that the early fact
// is in storage and in the model's view.
func (t *table) proof(ctx context.Context, svc *compaction.CompactionSessionService) error {
	history, err := conversationOf(ctx, svc)
	if err != nil {
		return err
	}
	var asked []string
	for _, ev := range history {
		if ev.Author == "user" && textOf(ev) != "" {
			asked = append(asked, textOf(ev))
		}
	}
	if len(asked) != len(conversation) {
		return fmt.Errorf("storage holds %d questions, want %d", len(asked), len(conversation))
	}
	for i, turn := range conversation {
		if asked[i] != turn.question {
			return fmt.Errorf("question %d in storage is %q, want %q", i+1, asked[i], turn.question)
		}
	}
	fmt.Fprintf(t.out, "\nStorage still holds all %d questions, word for word, and every answer and tool call.\n", len(asked))
	fmt.Fprintf(t.out, "  turn 1, from storage:    %s\n", around(asked[0]))

	resp, err := svc.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return err
	}
	where := "nowhere: the summaries left it out; it is still in storage"
	position, total := 0, resp.Session.Events().Len()
	for ev := range resp.Session.Events().All() {
		position++
		if text := textOf(ev); strings.Contains(text, fact) {
			where = fmt.Sprintf("%s (event %d of %d)", around(text), position, total)
			break
		}
	}
	fmt.Fprintf(t.out, "  what the model sees now: %s\n", where)
	fmt.Fprintf(t.out, "  its answer in turn %d:   %s\n\n", len(conversation), t.answer)
	return nil
}

// around quotes the words around the fact.
func around(text string) string {
	at := strings.Index(text, fact)
	if at < 0 {
		return "…"
	}
	from, to := max(0, at-33), min(len(text), at+len(fact)+18)
	quote := strings.ReplaceAll(strings.ToValidUTF8(text[from:to], ""), "\n", " ")
	return "…" + strings.TrimSpace(quote) + "…"
}
