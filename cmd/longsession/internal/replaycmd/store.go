package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// store is the session file of --db. It creates a new file for the first conversation, so that a
// run without conversations leaves no file behind.
type store struct {
	name  string
	force bool              // accepts a file with data of other apps
	taken map[string]string // ID of a conversation of this run -> its file and line

	mu      sync.Mutex
	service *persistence.SQLiteSessionService // nil until the first conversation
	closed  bool
	created map[string]bool // IDs of the sessions that this run created
}

// openStore opens an existing file, or checks that a new one can be created.
func openStore(ctx context.Context, name string, force bool) (*store, error) {
	s := &store{name: name, force: force, taken: map[string]string{}, created: map[string]bool{}}
	if err := (files.Output{Flag: "--db", Name: name}).CheckSidecar(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err == nil {
		return s, s.open(ctx)
	}
	place := files.Resolved(name)
	probe, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+"*")
	if err != nil {
		return nil, exit.Usage("--db %s: cannot write there: %w; name a file in a folder that exists and is writable", name, files.Cause(err))
	}
	return s, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// open opens the file, or creates it.
func (s *store) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.service != nil {
		return nil
	}
	if s.closed {
		return exit.Failed("--db: the run is over")
	}
	if !s.force {
		if err := refuseOtherApps(ctx, s.name); err != nil {
			return err
		}
	}
	service, err := persistence.NewSQLiteSessionService(s.name)
	if err != nil {
		return exit.Usage("--db: %w", err)
	}
	s.service = service
	return nil
}

// check refuses a conversation whose session exists already, in the file or earlier in this run, since
// their events would be mixed. One goroutine calls it, after open.
func (s *store) check(ctx context.Context, c *conversation.Conversation) error {
	refuse := func(format string, args ...any) error {
		return &exit.Error{Code: exit.CodeUsage, Err: &conversation.Error{File: c.File, Line: c.Line, Conversation: c.ID, Message: -1, Problem: fmt.Sprintf(format, args...)}}
	}
	if first, ok := s.taken[c.ID]; ok {
		return refuse("--db: %s has the same ID, but session IDs are unique in a session file: give one of the two another ID, or leave it out with --only", first)
	}
	s.taken[c.ID] = fmt.Sprintf("%s:%d", c.File, c.Line)
	_, err := s.service.Get(ctx, &session.GetRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID, NumRecentEvents: 1})
	switch {
	case adk.IsNotFound(err):
		return nil
	case err != nil:
		return exit.Failed("--db: %w", err)
	}
	return refuse("--db: %s already has a session %s/%s/%s: name a new file, or give the conversation another ID", s.name, replay.AppName, replay.UserID, c.ID)
}

// sessions returns the service that stores the conversations.
func (s *store) sessions() session.Service { return noted{s.service, s} }

// noted notes the sessions that this run creates. Another process may share the file and create
// others.
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

// remove deletes a session that was played in part, if this run created it.
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

// refuseOtherApps refuses a session file that holds sessions or state of another app: replayed
// sessions do not belong in the working data of an app. It opens the file read-only. A file that
// does not exist or is not a session file is left to the caller.
func refuseOtherApps(ctx context.Context, name string) error {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const remedy = `name a new file; --force adds the sessions of this run, as app "` + replay.AppName + `", and changes no existing data`
	stored, err := persistence.NewSQLiteSessionService(name, persistence.WithReadOnly())
	switch {
	case errors.Is(err, persistence.ErrForeignFile):
		return nil
	case errors.Is(err, persistence.ErrOlderSchema):
		return exit.Usage("--db %s was written by an older version and must be upgraded before it can be searched for data of other apps, which --force does: name a new file", name)
	case err != nil:
		return exit.Usage("--db: %w", err)
	}
	others, err := otherApps(ctx, stored)
	if err := errors.Join(err, stored.Close()); err != nil {
		return exit.Failed("--db: %w", err)
	}
	if len(others) == 0 {
		return nil
	}
	return exit.Usage("--db %s holds data of %s: %s", name, describeApps(others), remedy)
}

// describeApps counts apps and names up to three of them.
func describeApps(names []string) string {
	const most = 3
	if len(names) == 1 {
		return fmt.Sprintf("another app (%q)", names[0])
	}
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	return fmt.Sprintf("%s other apps (%s)", terminal.Commas(len(names)), strings.Join(quoted, ", "))
}

// otherApps lists the apps with sessions or state in a file.
func otherApps(ctx context.Context, stored *persistence.SQLiteSessionService) (others []string, err error) {
	apps, err := texts(ctx, stored, `SELECT app FROM sessions UNION SELECT app FROM user_state UNION SELECT app FROM app_state ORDER BY app`, 1)
	for _, row := range apps {
		if row[0] != replay.AppName {
			others = append(others, row[0])
		}
	}
	return others, err
}
