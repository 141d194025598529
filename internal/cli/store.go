package cli

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/conversation"
	"github.com/adk-go-ext/longsession/internal/replay"
	"github.com/adk-go-ext/longsession/persistence"
)

// store is the session file of --db.
type store struct {
	name    string
	service *persistence.SQLiteSessionService
	taken   map[string]string // ID of a conversation of this run -> where it was read
}

func openStore(name string) (*store, error) {
	service, err := persistence.NewSQLiteSessionService(name)
	if err != nil {
		return nil, badInput("--db: %w", err)
	}
	return &store{name: name, service: service, taken: map[string]string{}}, nil
}

// check refuses a conversation whose session is there already: its events would be mixed with others. It
// is called by one goroutine.
func (s *store) check(ctx context.Context, c *conversation.Conversation) error {
	refuse := func(format string, args ...any) error {
		return &exitError{exitUsage, &conversation.Error{File: c.File, Line: c.Line, Conversation: c.ID, Message: -1, Problem: fmt.Sprintf(format, args...)}}
	}
	if first, ok := s.taken[c.ID]; ok {
		return refuse("--db: %s has the same ID, and a session file holds one session of a name: give one of the two another ID, or leave it out with --only", first)
	}
	s.taken[c.ID] = fmt.Sprintf("%s:%d", c.File, c.Line)
	_, err := s.service.Get(ctx, &session.GetRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID, NumRecentEvents: 1})
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err != nil:
		return failed("--db: %w", err)
	}
	return refuse("--db: %s has a session %s/%s/%s already: name a new file, or give the conversation another ID", s.name, replay.AppName, replay.UserID, c.ID)
}

// remove takes out a session that was played in part.
func (s *store) remove(ctx context.Context, c *conversation.Conversation) error {
	return s.service.Delete(ctx, &session.DeleteRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID})
}

func (s *store) close() error { return s.service.Close() }
