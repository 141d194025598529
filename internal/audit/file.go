package audit

import (
	"context"
	"errors"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

// File is an open session file. It is safe for concurrent use. Close it.
type File struct {
	stored *persistence.SQLiteSessionService
	// views shows what an app's compaction service would show a model, through the same code.
	views *compaction.CompactionSessionService
}

// Open opens a session file for reading. Errors name the path, the cause and what to do.
func Open(path string) (*File, error) {
	stored, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly())
	if err != nil {
		return nil, err
	}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = summarizer.Extractive{} // nothing is appended, so it is never asked
	views, err := compaction.NewCompactionService(stored, cfg)
	if err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	return &File{stored: stored, views: views}, nil
}

// Close closes the file. It can be called once.
func (f *File) Close() error {
	return errors.Join(f.views.Close(context.Background()), f.stored.Close())
}

// view returns what the model would see of a session now.
func (f *File) view(ctx context.Context, s *Session) ([]*session.Event, error) {
	resp, err := f.views.Get(ctx, &session.GetRequest{AppName: s.App, UserID: s.User, SessionID: s.ID})
	if err != nil {
		return nil, err
	}
	return filtered.Collect(resp.Session.Events()), nil
}
