package oracle

import (
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// stored is a readable record.
type stored struct {
	*record.Metadata
	covers []int           // positions of the events that it covers
	others []string        // other things it stands for: references that name no event, IDs of absent records
	family map[string]bool // the IDs of it and all that it absorbs, see standsFor
	claim  map[string]bool // everything that it stands for, directly or not
	live   bool
	anchor int // position of the event that its summary is shown behind, -1 for the front
}

// readable returns the readable records of a history. If several share an ID, it returns the first
// of them.
func readable(events []*session.Event) []*stored {
	var out []*stored
	for _, ev := range events {
		m, err := record.From(ev)
		if err == nil && m != nil && !slices.ContainsFunc(out, func(r *stored) bool { return r.RecordID == m.RecordID }) {
			out = append(out, &stored{Metadata: m})
		}
	}
	return out
}

func (h *history) record(id string) *stored {
	for _, r := range h.records {
		if r.RecordID == id {
			return r
		}
	}
	return nil
}

// resolve finds what each record covers: events of its lane, and of its agent if it has one.
func (h *history) resolve() {
	for _, r := range h.records {
		for _, ref := range r.Covered {
			i := h.find(ref)
			switch {
			case i >= 0 && record.Normalize(laneOf(h.events[i])) == r.Branch && (r.After.IsZero() || record.Normalize(h.events[i].Author) == r.Agent):
				r.covers = append(r.covers, i)
			case ref.ID != "":
				r.others = append(r.others, "event "+ref.ID)
			default:
				r.others = append(r.others, fmt.Sprint("place ", ref.InvocationID, ref.Author, ref.Timestamp.UTC()))
			}
		}
		for _, id := range r.Absorbed {
			if h.record(id) == nil {
				r.others = append(r.others, "record "+id)
			}
		}
	}
}

// find returns the position of the one event that a reference names, -1 if it names none or
// several. It compares IDs if any event has the reference's ID, else invocation, author and
// microsecond.
func (h *history) find(ref record.Ref) int {
	var named, placed []int
	for i, ev := range h.events {
		if ev == nil || record.Is(ev) {
			continue
		}
		if ref.ID != "" && record.Normalize(ev.ID) == ref.ID {
			named = append(named, i)
		}
		if record.RefTo(ev).AltKey() == ref.AltKey() {
			placed = append(placed, i)
		}
	}
	switch {
	case len(named) == 1:
		return named[0]
	case len(named) == 0 && len(placed) == 1 && ref != (record.Ref{ID: ref.ID}):
		return placed[0]
	}
	return -1
}

// standsFor returns the IDs of a record and of all records of its branch that it absorbs, directly or not.
func (h *history) standsFor(r *stored) map[string]bool {
	out := map[string]bool{r.RecordID: true}
	for grown := true; grown; {
		grown = false
		for id := range out {
			for _, child := range h.record(id).Absorbed {
				if c := h.record(child); c != nil && c.Branch == r.Branch && !out[child] {
					out[child], grown = true, true
				}
			}
		}
	}
	return out
}

// claims finds what each record stands for.
func (h *history) claims() {
	for _, r := range h.records {
		r.family, r.claim = h.standsFor(r), map[string]bool{}
		for id := range r.family {
			for _, i := range h.record(id).covers {
				r.claim[fmt.Sprint("position ", i)] = true
			}
			for _, other := range h.record(id).others {
				r.claim[other] = true
			}
		}
	}
}

// settle finds the live records: no other record of the branch absorbs them (except in a circle),
// and no later one replaces them. It starts with the latest.
func (h *history) settle() {
	h.claims()
	for _, r := range h.records {
		r.live = !slices.ContainsFunc(h.records, func(p *stored) bool {
			return p.Branch == r.Branch && slices.Contains(p.Absorbed, r.RecordID) && !r.family[p.RecordID]
		})
	}
	byAge := slices.Clone(h.records)
	slices.SortFunc(byAge, func(a, b *stored) int { return order(later(a, b)) })
	for _, r := range byAge {
		r.live = r.live && !slices.ContainsFunc(h.records, func(q *stored) bool { return h.replaces(q, r) })
	}
}

// replaces reports whether q is later than r, stands for everything that r stands for, and is
// shown, or absorbed by a record that is shown.
func (h *history) replaces(q, r *stored) bool {
	if q.Branch != r.Branch || !later(q, r) || r.family[q.RecordID] || len(r.claim) == 0 {
		return false
	}
	for thing := range r.claim {
		if !q.claim[thing] {
			return false
		}
	}
	return slices.ContainsFunc(h.records, func(s *stored) bool { return s.live && s != r && s.family[q.RecordID] })
}

func later(a, b *stored) bool {
	if !a.CreatedAt.Equal(b.CreatedAt) {
		return a.CreatedAt.After(b.CreatedAt)
	}
	return a.RecordID > b.RecordID
}

func order(first bool) int {
	if first {
		return -1
	}
	return 1
}

// summaries returns the live records by the start of what they stand for, then by age.
func (h *history) summaries() []*stored {
	live := slices.DeleteFunc(slices.Clone(h.records), func(r *stored) bool { return !r.live })
	slices.SortFunc(live, func(a, b *stored) int {
		if !a.StartTimestamp.Equal(b.StartTimestamp) {
			return order(a.StartTimestamp.Before(b.StartTimestamp))
		}
		return order(later(b, a))
	})
	return live
}
