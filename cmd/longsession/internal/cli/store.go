package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// store is the session file of --db. A file that is not there is created for the first conversation: a run
// that plays none leaves none.
type store struct {
	name  string
	force bool              // takes a file that keeps data of other apps
	taken map[string]string // ID of a conversation of this run -> where it was read

	mu      sync.Mutex
	service *persistence.SQLiteSessionService // nil until it is needed
	closed  bool
	created map[string]bool // IDs of the sessions that this run made
}

// openStore opens a file that is there, and checks that one that is not can be created.
func openStore(ctx context.Context, name string, force bool) (*store, error) {
	s := &store{name: name, force: force, taken: map[string]string{}, created: map[string]bool{}}
	if err := sparesDatabases("--db", name); err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err == nil {
		return s, s.open(ctx)
	}
	place := resolved(name)
	probe, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+"*")
	if err != nil {
		return nil, badInput("--db %s: cannot write there: %w; name a file in a folder that exists and may be written to", name, cause(err))
	}
	return s, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// open opens the file, and creates it if it is not there.
func (s *store) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.service != nil {
		return nil
	}
	if s.closed {
		return failed("--db: the run is over")
	}
	if !s.force {
		if err := sparesOtherApps(ctx, s.name); err != nil {
			return err
		}
	}
	service, err := persistence.NewSQLiteSessionService(s.name)
	if err != nil {
		return badInput("--db: %w", err)
	}
	s.service = service
	return nil
}

// check refuses a conversation whose session is there already: its events would be mixed with others. It
// is called by one goroutine, after open.
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

// sessions is the service that a conversation is played on.
func (s *store) sessions() session.Service { return noted{s.service, s} }

// noted notes which sessions were created through it: the file may be shared with another process, which
// made the others.
type noted struct {
	*persistence.SQLiteSessionService
	store *store
}

var _ session.Service = noted{}

func (n noted) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := n.SQLiteSessionService.Create(ctx, req)
	if err == nil {
		n.store.mu.Lock()
		defer n.store.mu.Unlock()
		n.store.created[resp.Session.ID()] = true
	}
	return resp, err
}

// remove takes out a session that was played in part; one that this run did not create stays.
func (s *store) remove(ctx context.Context, c *conversation.Conversation) error {
	s.mu.Lock()
	created := s.created[c.ID]
	s.mu.Unlock()
	if !created {
		return nil
	}
	return s.service.Delete(ctx, &session.DeleteRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID})
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.service == nil {
		return nil
	}
	return s.service.Close()
}
