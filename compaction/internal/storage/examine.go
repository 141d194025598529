package storage

import (
	"slices"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// examine checks a draft against the session as it is now, and returns the record to store. The
// record lacks the references that name no event, or more than one; their events are marked, so
// that no later window has them. If there is nothing to store, the record is nil and the settlement
// says why. For a draft that covers e1, e2 and e3:
//
//	another record covers e2 now   nothing is stored: no event may be summarized twice
//	two events have the ID of e3   the record covers e1 and e2, and e3 stays visible
func examine(v *view.View, st *sessions.State, d *writer.Draft) (*record.Metadata, Settlement) {
	if ev := v.Record(d.Meta.RecordID); ev != nil {
		return nil, Settlement{Event: ev}
	}
	events := v.Raw()
	for _, id := range d.Meta.Absorbed {
		if !v.Shows(id) {
			return nil, Settlement{Reason: "a summary that it absorbs is no longer shown"}
		}
	}
	ready := *d.Meta
	ready.Covered = nil
	found := v.Find(d.Meta.Covered)
	covered := v.CoveredAt(found)
	for i, at := range found {
		switch {
		case at < 0 || record.Normalize(adk.Lane(events[at])) != d.Meta.Branch:
			st.Learned.Events.MarkUnreferencable(d.Events[i])
			ready.Values = slices.DeleteFunc(slices.Clone(ready.Values), func(v record.Value) bool {
				return v.Event == d.Meta.Covered[i].ID
			})
			ready.Said = slices.DeleteFunc(slices.Clone(ready.Said), func(s record.Value) bool { return s.Event == d.Meta.Covered[i].ID })
		case covered[i]:
			return nil, Settlement{Reason: "another record covers its events"}
		default:
			ready.Covered = append(ready.Covered, d.Meta.Covered[i])
		}
	}
	if len(ready.Covered) == 0 && len(d.Meta.Covered) > 0 {
		return nil, Settlement{Reason: "no stored event can be told from the others by its references"}
	}
	return &ready, Settlement{}
}
