package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"time"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// file is a session file of package persistence.
type file struct {
	path   string
	reader *persistence.SQLiteSessionService
	writer *persistence.SQLiteSessionService // nil for a file that is only read
	// open is the session that rows are appended to.
	open session.Session
}

// OpenFile opens a session file for reading.
func OpenFile(path string) (Store, error) {
	reader, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly())
	if err != nil {
		return nil, err
	}
	if missing := reader.Incomplete(); missing != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, missing), reader.Close())
	}
	return &file{path: path, reader: reader}, nil
}

// CreateFile opens a session file for writing, and creates it if there is none. With fast, a power cut may undo the
// newest portions of a copy, which then has to be repeated.
func CreateFile(path string, fast bool) (Store, error) {
	var with persistence.Option
	if fast {
		with = persistence.WithSynchronousNormal()
	}
	writer, err := persistence.NewSQLiteSessionService(path, with)
	if err != nil {
		return nil, err
	}
	reader, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly())
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return &file{path: path, reader: reader, writer: writer}, nil
}

func (f *file) Where() string { return "file " + f.path }

func (f *file) Close() error {
	err := f.reader.Close()
	if f.writer != nil {
		err = errors.Join(err, f.writer.Close())
	}
	return err
}

func (f *file) Choose(ctx context.Context, which Which) (names []Name, err error) {
	err = f.reader.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		rows, err := snap.Query(ctx, "SELECT app, user, id FROM sessions")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n Name
			if err := rows.Scan(&n.App, &n.User, &n.ID); err != nil {
				return err
			}
			names = append(names, n)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return which.choose(names, "the file "+f.path)
}

func (f *file) read(ctx context.Context, name Name, do func(*reading) error) (found bool, err error) {
	err = f.reader.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		r := &reading{header: header{Name: name, state: map[string]any{}}, lost: Losses{}}
		var key int64
		var created, updated string
		found, err = ask(ctx, snap, "SELECT key, created_at, updated_at FROM sessions WHERE app = ? AND user = ? AND id = ?",
			[]any{name.App, name.User, name.ID}, func(scan func(...any) error) error { return scan(&key, &created, &updated) })
		if err != nil || !found {
			return err
		}
		if r.created, err = time.Parse(time.RFC3339Nano, created); err != nil {
			return fmt.Errorf("session %q: created_at: %w", name, err)
		}
		if r.updated, err = time.Parse(time.RFC3339Nano, updated); err != nil {
			return fmt.Errorf("session %q: updated_at: %w", name, err)
		}
		if err := readState(ctx, snap, key, r); err != nil {
			return err
		}
		if _, err := ask(ctx, snap, "SELECT count(*) FROM sqlite_master WHERE name = 'tool_result_blobs'", nil, func(scan func(...any) error) error { return scan(&r.results) }); err != nil {
			return err
		}
		if r.results > 0 {
			if _, err := ask(ctx, snap, "SELECT count(*) FROM tool_result_blobs WHERE session = ?", []any{key}, func(scan func(...any) error) error { return scan(&r.results) }); err != nil {
				return err
			}
		}
		r.events = f.events(ctx, snap, name, key, r.lost)
		return do(r)
	})
	return found, err
}

// ask runs a query and calls each for every row. It reports whether there was one.
func ask(ctx context.Context, snap *persistence.Snapshot, query string, args []any, each func(scan func(...any) error) error) (found bool, err error) {
	rows, err := snap.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		found = true
		if err := each(rows.Scan); err != nil {
			return true, err
		}
	}
	return found, rows.Err()
}

func readState(ctx context.Context, snap *persistence.Snapshot, key int64, r *reading) error {
	_, err := ask(ctx, snap, `SELECT key, value FROM session_state WHERE session = ?1
		UNION ALL SELECT 'user:' || key, value FROM user_state WHERE app = ?2 AND user = ?3
		UNION ALL SELECT 'app:' || key, value FROM app_state WHERE app = ?2`, []any{key, r.App, r.User}, func(scan func(...any) error) error {
		var name, text string
		if err := scan(&name, &text); err != nil {
			return err
		}
		var value any
		if err := decode([]byte(text), &value); err != nil {
			return fmt.Errorf("session %q: state %q cannot be read: %w", r.Name, name, err)
		}
		r.state[name] = value
		return nil
	})
	return err
}

// events yields the events of the session with this key, in the order of their commits. It counts what is unknown of them.
func (f *file) events(ctx context.Context, snap *persistence.Snapshot, name Name, key int64, lost Losses) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		for row, err := range sessionfile.Rows(ctx, snap, key, 1, -1) {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case row.Err != nil:
				yield(nil, fmt.Errorf("session %q: event %d cannot be read: %w: see 'longsession audit verify'", name, row.Seq, row.Err))
				return
			}
			fields, within := row.Unknown()
			for _, field := range fields {
				lost.count("values of the field "+field+notKnown, 1)
			}
			if within {
				lost.count(lostUnknown, 1)
			}
			if !yield(row.Event, nil) {
				return
			}
		}
	}
}

// Unknown counts what the events of a session in a file have and this version of ADK does not know. Whoever reads them
// lacks it.
func Unknown(ctx context.Context, path string, name Name) (lost Losses, err error) {
	reader, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly())
	if err != nil {
		return nil, err
	}
	f := &file{path: path, reader: reader}
	defer func() { err = errors.Join(err, f.Close()) }()
	lost = Losses{}
	return lost, reader.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		var key int64
		found, err := ask(ctx, snap, "SELECT key FROM sessions WHERE app = ? AND user = ? AND id = ?", []any{name.App, name.User, name.ID}, func(scan func(...any) error) error { return scan(&key) })
		if err != nil || !found {
			return err
		}
		for ev, err := range f.events(ctx, snap, name, key, lost) {
			if err != nil {
				return err
			}
			lost.countScope(ev)
		}
		return nil
	})
}

// handle returns the session to append to.
func (f *file) handle(ctx context.Context, name Name) (session.Session, error) {
	if f.open != nil && f.open.AppName() == name.App && f.open.UserID() == name.User && f.open.ID() == name.ID {
		return f.open, nil
	}
	resp, err := f.writer.Get(ctx, &session.GetRequest{AppName: name.App, UserID: name.User, SessionID: name.ID, NumRecentEvents: 1})
	if err != nil {
		return nil, err
	}
	f.open = resp.Session
	return f.open, nil
}

func (f *file) create(ctx context.Context, of *header) error {
	at := platform.WithTimeProvider(ctx, func() time.Time { return of.created })
	_, err := f.writer.Create(at, &session.CreateRequest{AppName: of.App, UserID: of.User, SessionID: of.ID})
	return err
}

func (f *file) append(ctx context.Context, of *header, rows []*row) error {
	to, err := f.handle(ctx, of.Name)
	if err != nil {
		return err
	}
	events := make([]*session.Event, len(rows))
	for i, r := range rows {
		if events[i], err = r.event(); err != nil {
			return err
		}
		events[i].Timestamp = r.time
	}
	return persistence.Import(ctx, f.writer, to, events, nil)
}

func (f *file) finish(ctx context.Context, of *header) error {
	f.open = nil // its state is not that of the file
	to, err := f.handle(ctx, of.Name)
	if err != nil {
		return err
	}
	state := maps.Clone(of.state)
	for key := range to.State().All() {
		if shared(key) {
			delete(state, key)
		}
	}
	return persistence.Import(ctx, f.writer, to, nil, state)
}

func (f *file) losses(*session.Event, Losses) {}

func (f *file) refuses(*row) string { return "" }
