package cli

import (
	"context"
	"errors"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// sessionName names a session of a session file.
type sessionName struct{ app, user, id string }

// eachSession yields the sessions of a session file, in the order of their names. The file is opened so
// that nothing can be written.
func (in input) eachSession(ctx context.Context, yield func(item) bool) bool {
	stored, err := persistence.NewSQLiteSessionService(in.name, persistence.WithReadOnly())
	if err != nil {
		return yield(item{err: badInput("%w", err)})
	}
	defer stored.Close()
	names, err := sessionNames(ctx, stored)
	if err != nil {
		return yield(item{err: failed("%w", err)})
	}
	if len(names) == 0 {
		return yield(item{err: &conversation.Error{File: in.name, Message: -1, Problem: "the file has no session: name one that an app has written to"}})
	}
	ids := map[string]int{}
	for _, n := range names {
		ids[n.id]++
	}
	for _, n := range names {
		id := n.id
		if ids[id] > 1 {
			id = n.app + "/" + n.user + "/" + n.id
		}
		it := item{bytes: in.bytes / int64(len(names))}
		it.conversation, it.err = storedConversation(ctx, stored, n, id)
		var broken *conversation.Error
		if errors.As(it.err, &broken) {
			broken.File = in.name
		} else if it.err == nil {
			it.conversation.File = in.name
		}
		if !yield(it) {
			return false
		}
	}
	return true
}

func sessionNames(ctx context.Context, stored *persistence.SQLiteSessionService) ([]sessionName, error) {
	var names []sessionName
	err := stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		rows, err := snap.Query(ctx, "SELECT app, user, id FROM sessions ORDER BY app, user, id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n sessionName
			if err := rows.Scan(&n.app, &n.user, &n.id); err != nil {
				return err
			}
			names = append(names, n)
		}
		return rows.Err()
	})
	return names, err
}

// storedConversation reads everything that was said in a session; compaction records are passed over.
func storedConversation(ctx context.Context, stored *persistence.SQLiteSessionService, n sessionName, id string) (*conversation.Conversation, error) {
	resp, err := stored.Get(ctx, &session.GetRequest{AppName: n.app, UserID: n.user, SessionID: n.id})
	if err != nil {
		return nil, failed("%w", err)
	}
	var events []*session.Event
	for ev := range resp.Session.Events().All() {
		events = append(events, ev)
	}
	return conversation.FromEvents(id, events)
}
