package transfer

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Name is the name of a session.
type Name struct {
	App  string `json:"app"`
	User string `json:"user"`
	ID   string `json:"session"`
}

func (n Name) String() string { return n.App + "/" + n.User + "/" + n.ID }

// Which selects sessions. The zero value selects all.
type Which struct {
	App, User string
	// Session is an ID, or app/user/id. It selects that session and those of its subtasks.
	Session string
}

// subtask is what the ID of a subtask's session has behind that of its parent.
const subtask = ":sub:"

func (w Which) String() string {
	var parts []string
	for _, part := range []struct{ what, value string }{{"named", w.Session}, {"of app", w.App}, {"of user", w.User}} {
		if part.value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", part.what, part.value))
		}
	}
	return strings.Join(parts, " ")
}

// ErrWhich is the error of a selection that fits no session, or several where it must fit one.
type ErrWhich struct{ text string }

func (e *ErrWhich) Error() string { return e.text }

// choose returns the sessions that w selects, in the order of their names. where names the store.
func (w Which) choose(all []Name, where string) ([]Name, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(n Name) bool { return w.App != "" && n.App != w.App || w.User != "" && n.User != w.User })
	slices.SortFunc(all, func(a, b Name) int { return strings.Compare(a.String(), b.String()) })
	if w.Session == "" {
		if len(all) == 0 {
			return nil, &ErrWhich{strings.TrimRight(fmt.Sprintf("%s has no session %s", where, w), " ")}
		}
		return all, nil
	}
	var heads []Name
	for _, n := range all {
		if n.ID == w.Session || n.String() == w.Session {
			heads = append(heads, n)
		}
	}
	switch len(heads) {
	case 0:
		return nil, &ErrWhich{fmt.Sprintf("%s has no session %s", where, w)}
	case 1:
	default:
		return nil, &ErrWhich{fmt.Sprintf("%s has %d sessions %s: name one as app/user/id, such as %q", where, len(heads), w, heads[0])}
	}
	head := heads[0]
	return slices.DeleteFunc(all, func(n Name) bool {
		return n != head && (n.App != head.App || n.User != head.User || !strings.HasPrefix(n.ID, head.ID+subtask))
	}), nil
}

// Store is a place with sessions: [OpenFile], [CreateFile] or [OpenDatabase] returns one. It is for one copy at a time.
// Close it.
type Store interface {
	// Where names the store for people, without a password.
	Where() string
	// Choose returns the names of the selected sessions in order. Its error is an [*ErrWhich] if there are none, or if
	// Which.Session fits several.
	Choose(ctx context.Context, which Which) ([]Name, error)
	Close() error

	// read calls do with one consistent state of a session. It returns false if there is no such session.
	read(ctx context.Context, name Name, do func(*reading) error) (found bool, err error)
	// create stores a session without events and state.
	create(ctx context.Context, of *header) error
	// append stores rows behind those of the session, all or none.
	append(ctx context.Context, of *header, rows []*row) error
	// finish makes the state and the update time of the session those of the header. State of its user and its app that
	// the store has already stays as it is.
	finish(ctx context.Context, of *header) error
	// losses counts what the store cannot keep of an event.
	losses(of *session.Event, in Losses)
	// refuses returns what of a row the store would refuse, "" if it takes it.
	refuses(r *row) string
}

// header is what a session has besides its events. State of the user and the app have ADK's prefixes.
type header struct {
	Name
	created, updated time.Time
	state            map[string]any
}

// shared reports whether a key of a state belongs to the user or the app.
func shared(key string) bool {
	return strings.HasPrefix(key, session.KeyPrefixApp) || strings.HasPrefix(key, session.KeyPrefixUser)
}

// part returns the keys of a state that are shared, or those that are not.
func (h *header) part(ofOthers bool) map[string]any {
	state := maps.Clone(h.state)
	maps.DeleteFunc(state, func(key string, _ any) bool { return shared(key) != ofOthers })
	return state
}

// reading is a session at one moment.
type reading struct {
	header
	// events yields the events in order.
	events iter.Seq2[*session.Event, error]
	// results is the number of tool results that are stored besides the events.
	results int
	// lost counts, of the events so far, what they have and this version of ADK does not know.
	lost Losses
}

// Losses counts, by what is lost, the events, keys or results that a copy cannot keep as they are.
type Losses map[string]int

// What Losses counts, as people read it.
const (
	lostTime    = "times cut to microseconds"
	lostOrder   = "times moved, because the database sorts by time"
	lostNUL     = "texts with characters replaced by U+FFFD"
	lostResults = "whole tool results that only the file has"
	lostUnknown = "events with fields" + notKnown
	lostScope   = "isolation scopes" + notKnown + ": they are behind the branch"
	lostShared  = "keys of user or app state that differ, and stay as the target has them"
)

// notKnown follows the name of what only a session of another version of ADK has.
const notKnown = " that this version of ADK does not know"

func (l Losses) count(what string, n int) {
	if n > 0 {
		l[what] += n
	}
}

// countScope counts the isolation scope of an event that has none for this version of ADK.
func (l Losses) countScope(ev *session.Event) {
	if _, scope := adk.SplitLane(ev.Branch); scope != "" {
		l.count(lostScope, 1)
	}
}

// Add adds the counts of other.
func (l Losses) Add(other Losses) {
	for what, n := range other {
		l[what] += n
	}
}
