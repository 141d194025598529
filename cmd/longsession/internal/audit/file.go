package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

// File is an open session file. It is safe for concurrent use. Close it.
type File struct {
	stored *persistence.SQLiteSessionService

	mu       sync.Mutex
	digested int64 // see firstDigested; 0: not known yet
}

// Open opens a session file for reading. Errors name the path, the cause and what to do.
func Open(path string) (*File, error) {
	stored, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly())
	if err != nil {
		return nil, err
	}
	return &File{stored: stored}, nil
}

// Incomplete returns an error if the newest events are probably missing, see
// [persistence.SQLiteSessionService.Incomplete].
func (f *File) Incomplete() error { return f.stored.Incomplete() }

// Close closes the file. It can be called once.
func (f *File) Close() error { return f.stored.Close() }

// moment is a session service that serves one snapshot of the file. It only has to serve views.
type moment struct {
	session.Service
	snap *persistence.Snapshot
}

func (m moment) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	return m.snap.GetActive(ctx, req)
}

// viewIn returns the view of a session, made by the code that an app uses.
func (f *File) viewIn(ctx context.Context, snap *persistence.Snapshot, s *Session) (_ []*session.Event, err error) {
	cfg := compaction.DefaultConfig()
	// Without appends no compaction is ever due.
	cfg.Summarizer, cfg.InvocationThreshold, cfg.SafetyRatio = summarizer.Extractive{}, compaction.Off, compaction.Off
	views, err := compaction.NewCompactionService(moment{f.stored, snap}, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, views.Close(context.Background())) }()
	resp, err := views.Get(ctx, &session.GetRequest{AppName: s.App, UserID: s.User, SessionID: s.ID})
	if err != nil {
		return nil, err
	}
	return view.Collect(resp.Session.Events()), nil
}

// State returns a text that changes whenever an event is stored, or a session created or deleted. It may be the same
// again if a session that was created in between is gone. It is cheap to ask for: it does not read events.
func State(ctx context.Context, f *File) (string, error) {
	var sessions, newest, events int64
	var created, updated string
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		const question = "SELECT count(*), coalesce(max(key), 0), coalesce(sum(last_seq), 0), coalesce(max(created_at), ''), coalesce(max(updated_at), '') FROM sessions"
		return answers(ctx, snap, "sessions", question, nil, []any{&sessions, &newest, &events, &created, &updated}, func() {})
	})
	return fmt.Sprintf("%d-%d-%d-%s-%s", sessions, newest, events, created, updated), err
}
