package audit

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/recall/index"
)

// Passage is a part of a session that a search has found: consecutive events, one of which fits the query or more.
type Passage []Found

// Found is an event of a passage.
type Found struct {
	Entry
	// Passage is the number of its passage, from 1: the best one is the first.
	Passage int `json:"passage"`
	// Turn is the number of the user's turn, from 1; 0 for what comes before the first.
	Turn int `json:"turn"`
	// Score is how well the event fits the query, 0 for a neighbor of one that does.
	Score float64 `json:"score,omitempty"`
}

// Search returns the passages of a session that fit a query best, the best first. Events of a passage are in the order
// of the session. It searches what an app's recall searches, and so finds no records. It reads every event
// that can be read, and needs no index in the file. unreadable counts the others.
func Search(ctx context.Context, f *File, s *Session, q index.Query) (found []Passage, unreadable int, err error) {
	notes, err := Annotate(ctx, f, s, first)
	if err != nil {
		return nil, 0, err
	}
	var rows []*persistence.Row
	var events []*session.Event
	for row, err := range f.Rows(ctx, s, first, -1) {
		if err != nil {
			return nil, 0, err
		}
		if row.Event == nil {
			unreadable++
			continue
		}
		rows, events = append(rows, row), append(events, row.Event)
	}
	hits, err := index.NewMemory(0).Search(ctx, index.Key{AppName: s.App, UserID: s.User, SessionID: s.ID}, events, q)
	if err != nil {
		return nil, 0, err
	}
	return passages(hits, func(position int) Entry { return notes.Entry(rows[position]) }), unreadable, ctx.Err()
}

// passages joins hits and neighbors that touch. entry returns the event at a position.
func passages(hits []index.Hit, entry func(position int) Entry) []Passage {
	at := map[int]*Found{}
	add := func(position, turn int, score float64) {
		if at[position] == nil {
			at[position] = &Found{Entry: entry(position), Turn: turn}
		}
		at[position].Score = max(at[position].Score, score)
	}
	for _, h := range hits {
		add(h.Position, h.Turn, h.Score)
		for _, n := range slices.Concat(h.Before, h.After) {
			add(n.Position, n.Turn, 0)
		}
	}
	positions := make([]int, 0, len(at))
	for position := range at {
		positions = append(positions, position)
	}
	slices.Sort(positions)
	var all []Passage
	for i, position := range positions {
		if i == 0 || positions[i-1] != position-1 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], *at[position])
	}
	slices.SortStableFunc(all, func(a, b Passage) int { return cmp.Compare(b.best(), a.best()) })
	for i, p := range all {
		for j := range p {
			p[j].Passage = i + 1
		}
	}
	return all
}

// best is the score of the event that fits best.
func (p Passage) best() (score float64) {
	for _, f := range p {
		score = max(score, f.Score)
	}
	return score
}
