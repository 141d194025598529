package replaycmd

import (
	"context"
	"errors"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// sessionName names a session of a session file.
type sessionName struct{ app, user, id string }

// eachSession yields the sessions of a session file, in the order of their names. It opens the file
// read-only.
func (in input) eachSession(ctx context.Context, yield func(item) bool) bool {
	stored, err := persistence.NewSQLiteSessionService(in.name, persistence.WithReadOnly())
	if err != nil {
		return yield(item{err: exit.Usage("%w", err)})
	}
	defer stored.Close()
	names, err := sessionNames(ctx, stored)
	if err != nil {
		return yield(item{err: exit.Failed("%w", err)})
	}
	if len(names) == 0 {
		return yield(item{err: &conversation.Error{File: in.name, Message: -1, Problem: "the file has no sessions: name one that an app has written to"}})
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

// storedConversation reads all events of a session except its compaction records.
func storedConversation(ctx context.Context, stored *persistence.SQLiteSessionService, n sessionName, id string) (*conversation.Conversation, error) {
	resp, err := stored.Get(ctx, &session.GetRequest{AppName: n.app, UserID: n.user, SessionID: n.id})
	if err != nil {
		return nil, exit.Failed("%w", err)
	}
	var events []*session.Event
	for ev := range resp.Session.Events().All() {
		events = append(events, ev)
	}
	return conversation.FromEvents(id, events)
}
