package audit

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/textindex"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
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
	// By is how it was found: [ByIndex] or [ByEvents].
	By string `json:"searched,omitempty"`
}

// The ways in which a search can find events.
const (
	ByIndex  = "index"  // by the index of words in the file
	ByEvents = "events" // by reading all events
)

// Searched is the outcome of a search.
type Searched struct {
	// Passages are those that fit best, the best first. Events of a passage are in the order of the session.
	Passages []Passage
	// By is [ByIndex] or [ByEvents], and Why says in words for people why it was not the index, "" if it was.
	By, Why string
	// Unreadable is how many of the events that were read cannot be decoded.
	Unreadable int
}

// Search searches a session as an app's recall does, and so finds no records. It uses the index of words in the file if
// that has all events of the session, and wholeSession is not asked for. Otherwise it reads every event that can be
// read. Both find the same, unless an app's Redact has taken words out of the index. So a search that finds nothing in
// the index reads the events, too.
func Search(ctx context.Context, f *File, s *Session, q index.Query, wholeSession bool) (found Searched, err error) {
	found.By = ByEvents
	if wholeSession {
		found.Why = "as it was asked for"
	} else if found.Why, err = whyNoIndex(ctx, f, s); err != nil {
		return found, err
	}
	if found.Why == "" {
		found.Passages, found.Why, err = searchIndex(ctx, f, s, q)
		if err != nil {
			return found, err
		}
	}
	if found.Why == "" {
		found.By = ByIndex
	} else {
		found.Passages, found.Unreadable, err = searchEvents(ctx, f, s, q)
	}
	for _, p := range found.Passages {
		for i := range p {
			p[i].By = found.By
		}
	}
	return found, err
}

// whyNoIndex returns why the index cannot be used for a session, "" if it can.
func whyNoIndex(ctx context.Context, f *File, s *Session) (why string, err error) {
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		state, err := textindex.StateOf(ctx, snap, s.key)
		switch {
		case ctx.Err() != nil || errors.Is(err, sql.ErrNoRows):
			return err
		case err != nil:
			why = "the index of words cannot be read: see 'longsession audit verify'"
		case !state.Exists:
			why = "no app has searched this session, so it has no index of words"
		case !state.Current:
			why = "the index of words is of another version: the app's next search makes it anew"
		case state.IndexedTo < state.LastSeq:
			why = fmt.Sprintf("the index of words has the first %d of %d events", state.IndexedTo, state.LastSeq)
		case state.IndexedTo > state.LastSeq || state.Documents != state.Rows:
			why = "the index of words is damaged: see 'longsession audit verify'"
		}
		return nil
	})
	return why, err
}

// searchIndex searches by the index. It returns why the events must be read instead, "" if they need not be.
func searchIndex(ctx context.Context, f *File, s *Session, q index.Query) (found []Passage, why string, err error) {
	const changed = "the session was changed meanwhile"
	notes, err := Annotate(ctx, f, s, first)
	if err != nil {
		return nil, "", err
	}
	hits, err := f.stored.SearchText(ctx, &session.GetRequest{AppName: s.App, UserID: s.User, SessionID: s.ID}, q)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, "the index of words cannot be searched: see 'longsession audit verify'", nil
	case len(hits) == 0:
		return nil, "the index of words has nothing, but an app may have redacted it", nil
	}
	events := map[int]*session.Event{}
	for _, h := range hits {
		events[h.Position] = h.Event
		for _, n := range slices.Concat(h.Before, h.After) {
			events[n.Position] = n.Event
		}
	}
	rows := map[int]*sessionfile.Row{}
	for position, ev := range events {
		for row, err := range f.Rows(ctx, s, int64(position)+1, 1) {
			if err != nil {
				return nil, "", err
			}
			rows[position] = row
		}
		if row := rows[position]; row == nil || row.Event == nil || row.ID != ev.ID || row.Seq != int64(position)+1 {
			return nil, changed, nil
		}
	}
	return passages(hits, func(position int) Entry { return notes.Entry(rows[position]) }), "", nil
}

// searchEvents searches without the index. unreadable counts the events that cannot be decoded.
func searchEvents(ctx context.Context, f *File, s *Session, q index.Query) (found []Passage, unreadable int, err error) {
	notes, err := Annotate(ctx, f, s, first)
	if err != nil {
		return nil, 0, err
	}
	var rows []*sessionfile.Row
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
	hits, err := wordsearch.NewMemory(0).Search(ctx, adk.SessionRef{AppName: s.App, UserID: s.User, SessionID: s.ID}, events, q)
	if err != nil {
		return nil, 0, err
	}
	return passages(hits, func(position int) Entry { return notes.Entry(rows[position]) }), unreadable, nil
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
