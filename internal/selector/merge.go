package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
)

// Position is where a view shows a summary. The zero value is in front of everything else. Any
// other value is behind an event, in the name of an agent: the place of a summary of tool rounds.
//
// Only summaries of one position may be merged: the past must not read as a tool result of the
// running turn.
type Position struct {
	agent, id string
	alt       record.AltKey
}

// positionBehind is the position behind an event, for the tool rounds of an agent.
func positionBehind(after record.Ref, agent string) Position {
	p := Position{agent: agent, id: after.ID}
	if p.id == "" {
		p.alt = after.AltKey()
	}
	return p
}

// Positions returns a function that gives the position at which the summary of a current record has
// to stay. The summary of tool rounds may move to the front once the user or another agent has spoken:
//
//	user: "Find the cheapest flight"      agent: 40 tool rounds, summarized behind the question
//	agent: "It is LH 441."                the agent may yet be run without a message: it stays
//	user: "Book it."                      the summary may move to the front
func Positions(h Input, p Params) func(*record.Metadata) Position {
	var stays func(*record.Metadata) bool
	return func(m *record.Metadata) Position {
		if !m.MidTurn() {
			return Position{}
		}
		if stays == nil {
			stays = mustStayInPlace(h, p)
		}
		if !stays(m) {
			return Position{}
		}
		return positionBehind(m.After, m.Agent)
	}
}

// MakeRoom keeps a branch within limit summaries when one more is about to be added. shown are the
// branch's current records, in the order of the view.
//
// If needed, two of the summaries must be merged first: the caller stores the merge and asks again,
// until no merge is needed. With a limit of 1, or if no two summaries share a position, the window
// itself absorbs the summaries of its own position, and no merge is needed. In that case the rounds
// of a running turn may have one summary per agent beyond the limit.
func MakeRoom(window *Selection, shown []*record.Metadata, at func(*record.Metadata) Position, limit int) (merge Selection, needed bool) {
	others := slices.DeleteFunc(slices.Clone(shown), window.absorbs)
	if len(others) < limit {
		return merge, false
	}
	merge, found := Merge(window.Branch, others, at)
	if limit == 1 || !found {
		window.absorbPosition(others, at)
		return Selection{}, false
	}
	return merge, true
}

// Merge chooses two summaries of one position to become one: the adjacent pair of equal level whose
// level is lowest, the older pair first; if no levels are equal, the adjacent pair whose higher
// level is lowest. found is false if no two share a position.
//
// Merged this way, as in a log-structured store, a fact is rewritten O(log n) times:
//
//	levels 2 1 0 0  ->  2 1 1  ->  2 2  ->  3
func Merge(branch string, shown []*record.Metadata, at func(*record.Metadata) Position) (merge Selection, found bool) {
	best := pair{}
	for i := range shown {
		for j := i + 1; j < len(shown); j++ {
			if at(shown[i]) == at(shown[j]) {
				best = best.orBetter(shown[i], shown[j])
				break
			}
		}
	}
	if best.older == nil {
		return Selection{}, false
	}
	return Rewrite(branch, at, best.older, best.newer), true
}

// Rewrite selects summaries of one position, at least one, that are rewritten as one summary.
func Rewrite(branch string, at func(*record.Metadata) Position, summaries ...*record.Metadata) Selection {
	sel := Selection{Branch: branch, Absorb: summaries}
	for _, m := range summaries {
		sel.Tokens += promptsize.OfSummary(m)
	}
	if newest := summaries[len(summaries)-1]; at(newest) != (Position{}) {
		sel.After, sel.Agent = eventNamed(newest.After), newest.Agent
	}
	return sel
}

type pair struct{ older, newer *record.Metadata }

func (p pair) orBetter(older, newer *record.Metadata) pair {
	if p.older == nil {
		return pair{older, newer}
	}
	equal, level := older.Level == newer.Level, max(older.Level, newer.Level)
	bestEqual, bestLevel := p.older.Level == p.newer.Level, max(p.older.Level, p.newer.Level)
	if equal != bestEqual && equal || equal == bestEqual && level < bestLevel {
		return pair{older, newer}
	}
	return p
}

// AbsorbNewest makes a window absorb the newest summary of its position, unless it does already. So
// a window that is too small for a frame of its own shares one with that summary.
func (s *Selection) AbsorbNewest(shown []*record.Metadata, at func(*record.Metadata) Position) {
	for _, m := range slices.Backward(shown) {
		if at(m) == s.position() {
			if !s.absorbs(m) {
				s.absorb(m)
			}
			return
		}
	}
}

func (s *Selection) absorbPosition(shown []*record.Metadata, at func(*record.Metadata) Position) {
	for _, m := range shown {
		if at(m) == s.position() {
			s.absorb(m)
		}
	}
}

func (s *Selection) absorb(m *record.Metadata) {
	s.Absorb = append(s.Absorb, m)
	s.Tokens += promptsize.OfSummary(m)
}

func (s *Selection) absorbs(m *record.Metadata) bool {
	return slices.ContainsFunc(s.Absorb, func(a *record.Metadata) bool { return a.RecordID == m.RecordID })
}

// position is where the window's summary will be shown.
func (s *Selection) position() Position {
	if s.After == nil {
		return Position{}
	}
	return positionBehind(record.RefTo(s.After), s.Agent)
}

// eventNamed returns an event that the reference names.
func eventNamed(ref record.Ref) *session.Event {
	return &session.Event{ID: ref.ID, InvocationID: ref.InvocationID, Timestamp: ref.Timestamp, Author: ref.Author}
}
