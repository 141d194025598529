package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// recordNode is one readable record of a history, as a node of the graph of absorption. It exists
// only while the record is resolved: positions take far less memory than references.
type recordNode struct {
	source  *session.Event
	meta    *record.Metadata // Covered is nil
	covered []int32          // positions in the history, in the order of the references
	loose   []record.Ref     // references that name no event, or more than one
	byAlt   []record.Ref     // references that resolved by their alternative key, on a backend that renames IDs
	after   int32            // position of meta.After, -1 if it does not resolve

	// Set by resolveCurrent.
	absorbs    []*recordNode
	absorbedBy []*recordNode
	absent     []string    // absorbed records that this history does not hold
	circle     *recordNode // nodes with the same one absorb each other in a circle
	current    bool
}

// newRecordNode resolves the references of m. A record covers events of its own branch only, and a
// mid-turn record covers only those of its agent. A reference to any other event stays loose and
// hides nothing.
func newRecordNode(source *session.Event, m *record.Metadata, events []*session.Event, find finder) *recordNode {
	n := &recordNode{source: source, covered: make([]int32, 0, len(m.Covered)), after: -1}
	for _, ref := range m.Covered {
		i, ok := find(ref)
		if !ok || record.Normalize(adk.Lane(events[i])) != m.Branch || m.MidTurn() && record.Normalize(events[i].Author) != m.Agent {
			n.loose = append(n.loose, ref)
			continue
		}
		n.covered = append(n.covered, int32(i))
		if ref.ID == "" || record.Normalize(events[i].ID) != ref.ID {
			n.byAlt = append(n.byAlt, ref)
		}
	}
	if m.MidTurn() {
		if i, ok := find(m.After); ok {
			n.after = int32(i)
		}
	}
	light := *m
	light.Covered = nil
	n.meta = &light
	return n
}

// keys adds the hashes of everything that decides what n means: to ids its record ID and the IDs of the
// events it covers, to refs both keys of each reference that did not resolve by ID. For example, if n
// covers e1 by ID, and a second event with the ID e1 is stored, the reference names two events and
// hides neither.
func (n *recordNode) keys(ids, refs []uint32, events []*session.Event) (moreIDs, moreRefs []uint32) {
	ids = append(ids, hashID(n.meta.RecordID))
	for _, i := range n.covered {
		ids = append(ids, hashID(record.Normalize(events[i].ID)))
	}
	unresolved := slices.Concat(n.byAlt, n.loose)
	if n.meta.MidTurn() {
		unresolved = append(unresolved, n.meta.After)
	}
	for _, ref := range unresolved {
		refs = append(refs, hashID(ref.ID), hashAltKey(ref.AltKey()))
	}
	return ids, refs
}

// point is one thing that a record stands for: an event, by position if the reference resolves and
// else by the reference; or an absorbed record that is absent. So records compare alike whether the
// events that they hide were loaded or not.
type point struct {
	position int32
	name     string
}

// Positions of points that have none.
const (
	unresolved int32 = -1 - iota
	absent
)

// points returns what n stands for itself, without the records that it absorbs.
func (n *recordNode) points() []point {
	out := make([]point, 0, len(n.covered))
	for _, i := range n.covered {
		out = append(out, point{position: i})
	}
	return append(out, n.unplaced()...)
}

// unplaced returns the points of n that have no position.
func (n *recordNode) unplaced() []point {
	var out []point
	for _, ref := range n.loose {
		out = append(out, loosePoint(ref))
	}
	for _, id := range n.absent {
		out = append(out, point{absent, id})
	}
	return out
}

func loosePoint(ref record.Ref) point {
	if ref.ID != "" {
		return point{unresolved, ref.ID}
	}
	return point{unresolved, ref.InvocationID + "\x00" + ref.Author + "\x00" + ref.Timestamp.UTC().String()}
}
