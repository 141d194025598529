package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

// Session is a stored session, as its row and its records describe it.
type Session struct {
	App  string `json:"app"`
	User string `json:"user"`
	ID   string `json:"session"`
	// Created and Updated are times as the file has them: UTC, RFC 3339.
	Created string `json:"created"`
	Updated string `json:"updated"`
	// Events counts all events including compaction records; Compactions counts the records.
	Events      int64 `json:"events"`
	Compactions int   `json:"compactions"`
	// Contested reports that the records conflict, so the marks in the file cannot express them and
	// an app loads the whole session.
	Contested bool `json:"contested"`
	// Parent and Call are set for the session of a subtask: the ID of the session that it works for,
	// and of the call there.
	Parent string `json:"parent,omitempty"`
	Call   string `json:"call,omitempty"`
	// Ledger is what a guard has counted, by the session's state; nil if there is none, or if it cannot
	// be read.
	Ledger *Ledger `json:"guard,omitempty"`
	// Children are the sessions of its subtasks, in the order of their IDs.
	Children []*Session `json:"-"`

	parent *Session // nil if there is none, or if it was deleted
	key    int64
	// lastUser and lastAgent are the seq of the newest events of their kind, which the model always
	// sees; 0 for none.
	lastUser, lastAgent int64
}

// Name joins the app, the user and the ID.
func (s *Session) Name() string { return s.App + "/" + s.User + "/" + s.ID }

// Narrow selects sessions. The zero value selects all.
type Narrow struct{ App, User string }

// Has reports whether a session is selected.
func (n Narrow) Has(s *Session) bool {
	return (n.App == "" || n.App == s.App) && (n.User == "" || n.User == s.User)
}

func (n Narrow) String() string {
	text := ""
	if n.App != "" {
		text += fmt.Sprintf(" of app %q", n.App)
	}
	if n.User != "" {
		text += fmt.Sprintf(" of user %q", n.User)
	}
	return text
}

const (
	selectSession = `SELECT key, app, user, id, created_at, updated_at, last_seq, contested, coalesce(last_user, 0), coalesce(last_agent, 0),
		(SELECT count(*) FROM events WHERE session = s.key AND record_id IS NOT NULL)
		FROM sessions s`
	selectSessions = selectSession + ` ORDER BY app, user, id`
	selectThat     = selectSession + ` WHERE key = ?`
	// selectFamily selects a session, those of its subtasks and of theirs, and those that it may be a subtask of.
	selectFamily = selectSession + ` WHERE app = ?1 AND user = ?2 AND (id = ?3 OR id >= ?3 || ':sub:' AND id < ?3 || ':sub;'
		OR id IN (SELECT value FROM json_each(?4))) ORDER BY id`
)

// Sessions returns the sessions of a file, in the order of their names.
func (f *File) Sessions(ctx context.Context, narrow Narrow) ([]*Session, error) {
	var found []*Session
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) (err error) {
		if found, err = sessionsIn(ctx, snap, selectSessions); err != nil {
			return err
		}
		return withLedgers(ctx, snap, found)
	})
	link(found)
	return slices.DeleteFunc(found, func(s *Session) bool { return !narrow.Has(s) }), err
}

// Named returns the session with exactly this name, and with it those of its subtasks, without reading any other. The
// error wraps [compaction.ErrNotFound] if there is none.
func Named(ctx context.Context, f *File, app, user, id string) (*Session, error) {
	parents, err := json.Marshal(parentsOf(id))
	if err != nil {
		return nil, err
	}
	var found []*Session
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) (err error) {
		if found, err = sessionsIn(ctx, snap, selectFamily, app, user, id, string(parents)); err != nil {
			return err
		}
		return withLedgers(ctx, snap, found)
	})
	if err != nil {
		return nil, err
	}
	link(found)
	if i := slices.IndexFunc(found, func(s *Session) bool { return s.ID == id }); i >= 0 {
		return found[i], nil
	}
	return nil, fmt.Errorf("session %q of user %q in app %q: %w", id, user, app, adk.ErrNotFound)
}

// State returns a text that changes whenever an event of the session or of one of its subtasks is stored, as of the
// time when the session was read.
func (s *Session) State() string {
	text := fmt.Sprintf("%d-%d-%s", s.key, s.Events, s.Updated)
	for _, child := range s.Children {
		text += " " + child.State()
	}
	return text
}

func sessionsIn(ctx context.Context, snap *persistence.Snapshot, query string, args ...any) (found []*Session, err error) {
	var s Session
	err = answers(ctx, snap, "sessions", query, args,
		[]any{&s.key, &s.App, &s.User, &s.ID, &s.Created, &s.Updated, &s.Events, &s.Contested, &s.lastUser, &s.lastAgent, &s.Compactions},
		func() { one := s; found = append(found, &one) })
	return found, err
}

// ErrWhich is the error of a name that does not fit exactly one session or record.
type ErrWhich struct{ text string }

func (e *ErrWhich) Error() string { return e.text }

// Find returns the session with an ID, or with an app, user and ID joined by slashes. An empty name
// means the only session, apart from those of subtasks. The error of a name that fits none or several is an [*ErrWhich].
func (f *File) Find(ctx context.Context, name string, narrow Narrow) (*Session, error) {
	all, err := f.Sessions(ctx, narrow)
	if err != nil {
		return nil, err
	}
	fit := slices.DeleteFunc(slices.Clone(all), func(s *Session) bool { return !Which{narrow, name}.Has(s) })
	if own := slices.DeleteFunc(slices.Clone(fit), func(s *Session) bool { return s.Parent != "" }); name == "" && len(own) > 0 {
		fit = own
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(all) == 0:
		return nil, &ErrWhich{fmt.Sprintf("the file has no session%s", narrow)}
	case len(fit) == 0:
		return nil, &ErrWhich{fmt.Sprintf("the file has no session %q%s; it has %s", name, narrow, candidates(all))}
	case name == "":
		return nil, &ErrWhich{fmt.Sprintf("the file has %d sessions%s: name one of %s", len(fit), narrow, candidates(fit))}
	}
	return nil, &ErrWhich{fmt.Sprintf("%d sessions%s are named %q: use --app and --user, or name one of %s", len(fit), narrow, name, candidates(fit))}
}

// candidates lists the names of sessions: only the first ones if there are many.
func candidates(sessions []*Session) string {
	const most = 10
	var names []string
	for _, s := range sessions[:min(most, len(sessions))] {
		names = append(names, fmt.Sprintf("%q", s.Name()))
	}
	text := strings.Join(names, ", ")
	if more := len(sessions) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
