package recall

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// mostSessions is how many of a user's other sessions are searched, the newest ones.
const mostSessions = 50

// others searches the user's other sessions of the same app. A session that cannot be searched is left out: the
// observer hears of it. The best passage is the first.
func (r *Recaller) others(ctx context.Context, own compaction.SessionRef, q Query) []Passage {
	resp, err := r.svc.List(ctx, &session.ListRequest{AppName: own.AppName, UserID: own.UserID})
	if err != nil || resp == nil {
		_, done := r.begin(ctx, own)
		done(result{}, err)
		return nil
	}
	sessions := slices.DeleteFunc(slices.Clone(resp.Sessions), func(s session.Session) bool {
		// A service that lists too much must not show one user another's words.
		return s == nil || s.ID() == own.SessionID || s.UserID() != own.UserID || s.AppName() != own.AppName
	})
	slices.SortStableFunc(sessions, func(a, b session.Session) int { return b.LastUpdateTime().Compare(a.LastUpdateTime()) })
	q.Branch, q.ofAgent, q.Shown = "", false, true // nothing of another session is in the prompt
	var out []Passage
	for _, s := range sessions[:min(len(sessions), mostSessions)] {
		if ctx.Err() != nil {
			break
		}
		ref := adk.RefOf(s)
		if found, err := r.search(ctx, ref, q); err == nil {
			out = append(out, found.passages...)
		}
	}
	slices.SortStableFunc(out, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// fit returns the best passages that have room together, in the order in which they were given.
func (r *Recaller) fit(passages []Passage) []Passage {
	byScore := make([]int, len(passages))
	for i := range passages {
		byScore[i] = i
	}
	slices.SortStableFunc(byScore, func(i, j int) int { return cmp.Compare(passages[j].Score, passages[i].Score) })
	room := r.cfg.MaxTokens
	var kept []int
	for _, i := range byScore {
		if size := passages[i].tokens(); size <= room {
			room -= size
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	out := make([]Passage, len(kept))
	for k, i := range kept {
		out[k] = passages[i]
	}
	return out
}
