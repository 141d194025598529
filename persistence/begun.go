package persistence

import (
	"context"
	"slices"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/record"
)

const selectInvocations = `SELECT id, began FROM invocations WHERE session = ? ORDER BY began DESC`

// manyBegun is how far invocations are counted. A call that is open after 50 later ones is given up, so
// more than one beyond that need not be told apart.
const manyBegun = 51

// begunAfter returns, by the ID of each loaded event with calls, how many invocations of which nothing
// is loaded began after it. seqs are those of the loaded events. It reads the newest invocations only.
func (r *reader) begunAfter(ctx context.Context, session int64, loaded []*session.Event, seqs []int64) (map[string]int, error) {
	oldest := int64(0) // the first call
	speaking := map[string]bool{}
	for i, ev := range loaded {
		if oldest == 0 && isCall(ev) {
			oldest = seqs[i]
		}
		if conversational(ev) && !record.Is(ev) {
			speaking[ev.InvocationID] = true
		}
	}
	if oldest == 0 {
		return nil, nil
	}
	began, err := r.unloaded(ctx, session, oldest, speaking)
	if err != nil || len(began) == 0 {
		return nil, err
	}
	counts, n := map[string]int{}, 0
	for i := len(loaded) - 1; i >= 0; i-- {
		for n < len(began) && began[n] > seqs[i] {
			n++
		}
		if n > 0 && isCall(loaded[i]) {
			counts[loaded[i].ID] = n
		}
	}
	return counts, nil
}

// unloaded returns where the newest invocations after a place in the history began that are not loaded,
// the newest first.
func (r *reader) unloaded(ctx context.Context, session, after int64, loaded map[string]bool) (began []int64, err error) {
	rows, err := r.invocations.QueryContext(ctx, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for len(began) < manyBegun && rows.Next() {
		var id string
		var at int64
		if err := rows.Scan(&id, &at); err != nil {
			return nil, err
		}
		if at <= after {
			break
		}
		if !loaded[id] {
			began = append(began, at)
		}
	}
	return began, rows.Err()
}

func isCall(ev *session.Event) bool {
	return ev.Content != nil && slices.ContainsFunc(ev.Content.Parts, func(part *genai.Part) bool {
		return part != nil && part.FunctionCall != nil
	})
}
