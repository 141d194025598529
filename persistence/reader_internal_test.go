package persistence

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// interrupted is the error of a statement that the driver has ended, which says nothing of the context.
type interrupted struct{}

func (interrupted) Error() string { return "interrupted (9)" }
func (interrupted) Code() int     { return 9 }

// A caller who gives up is told of that, whichever of the two errors the driver returns.
func TestAnInterruptedReadIsThatOfACallerWhoGaveUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s, err := NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	readOnly, err := NewSQLiteSessionService(path, WithReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	for name, read := range map[string]func(ctx context.Context, do func() error) error{
		"a session": func(ctx context.Context, do func() error) error {
			return s.explain("get session", s.read(ctx, func(*reader) error { return do() }))
		},
		"a snapshot": func(ctx context.Context, do func() error) error {
			return readOnly.Snapshot(ctx, func(*Snapshot) error { return do() })
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		fails := func() error { return fmt.Errorf("events: %w", interrupted{}) }
		if err := read(ctx, fails); errors.Is(err, context.Canceled) || !errors.As(err, new(interrupted)) {
			t.Errorf("%s, while the caller waits: %v", name, err)
		}
		err := read(ctx, func() error { cancel(); return fails() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, when the caller has given up: %v", name, err)
		}
	}
}
