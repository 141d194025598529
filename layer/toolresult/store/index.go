package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/adk/session"
)

// index maps the references of a session to the positions of their events. A reader must acquire the index
// before it uses the fields below turn.
type index struct {
	owner Owner
	turn  chan struct{} // holds one token while a reader is at work

	scanned bool
	refs    map[string]position
	// end is the position of the newest event that a reader has seen, and anchor is its digest. Whatever session has
	// that event there is the one that was read. Another of its name, created after this one was deleted, has not.
	end    position
	anchor digest
}

type digest [sha256.Size]byte

// position is a place in a session from which reading finds an event. The zero value is the start of the
// session.
type position struct {
	time time.Time
	seq  int64
}

func (p position) after(q position) bool { return p.seq > q.seq || p.time.After(q.time) }
func (p position) equal(q position) bool { return p.seq == q.seq && p.time.Equal(q.time) }

func newIndex(owner Owner) *index {
	return &index{owner: owner, turn: make(chan struct{}, 1), refs: map[string]position{}}
}

func (ix *index) acquire(ctx context.Context) error {
	select {
	case ix.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (ix *index) release() { <-ix.turn }

// errAnother is the error of a session that is not the one that was read before.
var errAnother = errors.New("the session was created anew")

// update indexes the events that are new since the last look, and returns the result if one of them has it.
func (ix *index) update(ctx context.Context, h history, ref string) (content string, found bool, err error) {
	if !ix.scanned {
		return "", false, nil
	}
	now, err := ix.scan(ctx, h, ix.end, ref)
	switch {
	case err != nil:
		return "", false, err
	case !now.same:
		return "", false, errAnother
	}
	maps.Copy(ix.refs, now.refs)
	ix.end, ix.anchor = now.end, now.anchor
	return now.content, now.found, nil
}

// find looks for a result where it was seen, and then everywhere. That finds an event with a timestamp older than
// one that was stored before it.
func (ix *index) find(ctx context.Context, h history, ref string) (content string, found bool, err error) {
	if at, known := ix.refs[ref]; known {
		err = h.since(ctx, ix.owner, at, func(ev *session.Event, _ position) bool {
			content, found = resultIn(ev, ref)
			return !found
		})
		if found || err != nil {
			return content, found, err
		}
	}
	all, err := ix.scan(ctx, h, position{}, ref)
	if err != nil {
		return "", false, err
	}
	ix.scanned, ix.refs, ix.end, ix.anchor = true, all.refs, all.end, all.anchor
	return all.content, all.found, nil
}

// look is what a scan has seen.
type look struct {
	refs    map[string]position
	end     position
	anchor  digest
	same    bool // the index's anchor is where it was
	content string
	found   bool
}

// scan looks at the events from a position on.
func (ix *index) scan(ctx context.Context, h history, from position, ref string) (look, error) {
	seen := look{refs: map[string]position{}}
	var newest *session.Event
	err := h.since(ctx, ix.owner, from, func(ev *session.Event, at position) bool {
		if ev == nil {
			return true
		}
		seen.same = seen.same || at.equal(from) && digestOf(ev) == ix.anchor
		if newest == nil || at.after(seen.end) {
			newest, seen.end = ev, at
		}
		for _, r := range ResultsOf(ev) {
			seen.refs[r.Ref] = at
			if r.Ref == ref {
				seen.content, seen.found = r.Content, true
			}
		}
		return true
	})
	if newest != nil {
		seen.anchor = digestOf(newest)
	}
	return seen, err
}

// resultIn returns one result of an event.
func resultIn(ev *session.Event, ref string) (content string, found bool) {
	for _, r := range ResultsOf(ev) {
		if r.Ref == ref {
			return r.Content, true
		}
	}
	return "", false
}

// digestOf tells an event from every other one. Content that is no JSON counts as none.
func digestOf(ev *session.Event) digest {
	content, _ := json.Marshal(ev.Content)
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d %s", ev.ID, ev.InvocationID, ev.Author, ev.Branch, ev.Timestamp.UnixMicro(), content))
}
