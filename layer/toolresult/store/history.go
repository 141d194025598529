package store

import (
	"context"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// history reads the events of sessions.
type history interface {
	// since yields the stored events from a position on, in the order of storage, until yield returns
	// false. It may yield earlier events too. The error wraps compaction.ErrNotFound if there is no such session.
	since(ctx context.Context, owner Owner, from position, yield func(*session.Event, position) bool) error
}

// maxLayers bounds how far a chain of decorators is followed: one that unwraps to itself must not cause
// an endless loop.
const maxLayers = 64

// rawReader is a service that shows something else than it stores, and can show that too.
type rawReader interface {
	Raw(context.Context, *session.GetRequest) (*session.GetResponse, error)
}

// pager is a service that reads stored events page by page, as persistence.SQLiteSessionService.
type pager interface {
	History(ctx context.Context, req *session.GetRequest, from int64, limit int) (page []*session.Event, next int64, err error)
}

// historyOf returns a reader of what svc stores, nil for a nil service.
func historyOf(svc session.Service) history {
	if adk.IsNil(svc) {
		return nil
	}
	h := getter{svc.Get}
	layer := svc
	for range maxLayers {
		raw, isRaw := layer.(rawReader)
		if isRaw {
			h = getter{raw.Raw}
		}
		wrapper, wraps := layer.(interface{ Unwrap() session.Service })
		if !wraps {
			break
		}
		layer = wrapper.Unwrap()
		if adk.IsNil(layer) {
			break
		}
		if isRaw {
			// Raw reads the service below, so its pages are the same history.
			svc = layer
			break
		}
	}
	if p, pages := svc.(pager); pages {
		return paged{h, p}
	}
	return h
}

// getter reads with session.Service.Get or a function like it.
type getter struct {
	get func(context.Context, *session.GetRequest) (*session.GetResponse, error)
}

// since reads the events whose timestamp is that of the position or later. Every service of ADK includes
// events with an equal timestamp; ADK's in-memory service finds the place by binary search, so it
// may miss events where timestamps do not ascend.
func (g getter) since(ctx context.Context, owner Owner, from position, yield func(*session.Event, position) bool) error {
	sess, err := g.load(ctx, owner, &session.GetRequest{After: from.time})
	if err != nil {
		return err
	}
	for ev := range sess.Events().All() {
		if ev != nil && !yield(ev, position{time: ev.Timestamp}) {
			return nil
		}
	}
	return nil
}

// load calls get. A service that panics has failed; one that answers with the session of another user
// has none of this one.
func (g getter) load(ctx context.Context, owner Owner, req *session.GetRequest) (sess session.Session, err error) {
	defer func() {
		if r := recover(); r != nil {
			sess, err = nil, fmt.Errorf("read session: panic: %v", r)
		}
	}()
	req.AppName, req.UserID, req.SessionID = owner.AppName, owner.UserID, owner.SessionID
	resp, err := g.get(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	if resp == nil || adk.IsNil(resp.Session) || resp.Session.UserID() != owner.UserID {
		return nil, fmt.Errorf("read session: %w", adk.ErrNotFound)
	}
	return resp.Session, nil
}

// paged reads pages of growing size: often the first event is the one that is looked for.
type paged struct {
	getter
	pager pager
}

const maxPage = 256

func (p paged) since(ctx context.Context, owner Owner, from position, yield func(*session.Event, position) bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("read history: panic: %v", r)
		}
	}()
	req := &session.GetRequest{AppName: owner.AppName, UserID: owner.UserID, SessionID: owner.SessionID}
	seq := max(from.seq, 1)
	for limit := 1; ; limit = min(4*limit, maxPage) {
		page, next, err := p.pager.History(ctx, req, seq, limit)
		if err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		if len(page) == 0 || next <= seq {
			return nil
		}
		for i, ev := range page {
			if !yield(ev, position{seq: seq + int64(i)}) {
				return nil
			}
		}
		seq = next
	}
}
