package store

import (
	"context"
	"time"

	"google.golang.org/adk/session"
)

// index maps the references of a session to the positions of their events. A reader must acquire the index
// before it uses refs, end and scanned.
type index struct {
	owner Owner
	turn  chan struct{} // holds one token while a reader is at work

	refs map[string]position
	// end is the position of the newest event that a reader has seen.
	end     position
	scanned bool
}

// position is a place in a session from which reading finds an event. The zero value is the start of the
// session.
type position struct {
	time time.Time
	seq  int64
}

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

// find looks for a result where it was seen, then among the events that are new since the last look,
// and at last everywhere. The last step finds an event with a timestamp older than one that
// was stored before it, and a session that was deleted and created anew.
func (ix *index) find(ctx context.Context, h history, ref string) (content string, found bool, err error) {
	if at, known := ix.refs[ref]; known {
		if content, found, err = ix.scan(ctx, h, at, ref, true); found || err != nil {
			return content, found, err
		}
	} else if ix.scanned {
		if content, found, err = ix.scan(ctx, h, ix.end, ref, false); found || err != nil {
			return content, found, err
		}
	}
	clear(ix.refs)
	ix.end, ix.scanned = position{}, false
	content, found, err = ix.scan(ctx, h, position{}, ref, false)
	ix.scanned = err == nil
	return content, found, err
}

// scan indexes the events from a position on, and returns the content of one result. If only that is
// wanted, it stops there.
func (ix *index) scan(ctx context.Context, h history, from position, ref string, only bool) (content string, found bool, err error) {
	err = h.since(ctx, ix.owner, from, func(ev *session.Event, at position) bool {
		if !only && (at.seq > ix.end.seq || at.time.After(ix.end.time)) {
			ix.end = at
		}
		if ev == nil || ev.Content == nil {
			return true
		}
		for _, part := range ev.Content.Parts {
			if part == nil || part.FunctionResponse == nil {
				continue
			}
			result := ResultOf(part.FunctionResponse.Response)
			if !only {
				ix.refs[result.Ref] = at
			}
			if result.Ref == ref {
				content, found = result.Content, true
			}
		}
		return !only || !found
	})
	return content, found, err
}
