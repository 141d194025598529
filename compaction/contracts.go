package compaction

import (
	"context"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/storage"
)

// The interfaces in this file are optional. [NewCompactionService] detects which of them an inner
// session service implements, and uses them. compactiontest.RunOptional checks an implementation.

// RecordAppender is an inner session service that can store a record at any time without harm to
// anybody's turn, in this process or in another. Package persistence has one. A service that lacks
// it gets its records with the appends of turns; see [NewCompactionService].
type RecordAppender interface {
	// AppendRecord stores a record event in the session that sess names. sess only identifies the
	// session: it may be stale, and it is not changed. ev has no content, an ID that is unique, and
	// the record in its CustomMetadata.
	//
	// The method stores the event and nothing else. It changes neither the session's state nor its
	// last update time, stores the event with that time as its timestamp, and sets ev.Timestamp to
	// it. A method that moved the update time would end the turns of other processes with a stale
	// session.
	//
	// In one transaction with that it checks that every event that the record covers is stored and
	// not covered by another record, and that every record that it absorbs is still current.
	// Otherwise it stores nothing and returns an error that has, in its chain, a method
	// Superseded() bool that returns true. Without the check, two processes would summarize the
	// same events twice.
	//
	// A record whose record ID is stored already is not stored again, and *ev becomes the stored
	// event: a call whose answer was lost can be repeated.
	//
	// A session that does not exist is [ErrNotFound]. The method must be safe for
	// concurrent use with all others of the service. If ctx has ended before anything is stored, it
	// stores nothing and returns an error.
	AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error
}

// PartialService is an inner session service that can load a session without the events that its
// view hides, so that a turn costs what is visible, however long the history is. Package
// persistence has one. From any other service the whole session is read with Get.
type PartialService interface {
	// GetActive returns the session with every event that its view may show, in the order of
	// storage:
	//
	//   - the events that no record covers, and the records that no other record absorbs or replaces
	//   - the newest event of the user, and the newest of an agent
	//   - of a summary of tool rounds in a running turn: the event that it is shown behind (After)
	//   - if the newest event of the user answers a call: on ADK v2, what its invocation has stored before
	//   - of each of these, the whole unit: a call, all of its responses, and the calls made with it
	//
	// More events do no harm. An event that should be there and is missing is shown to no model and
	// summarized by nobody, as if it were hidden; storage still has it. Where records compete,
	// because two processes wrote them at once, the safe answer is the whole session.
	//
	// The events that are loaded have IDs that are unique in the session: references in records are
	// resolved by ID alone. So AppendEvent must keep the IDs of events. The filters of the request
	// are ignored.
	//
	// A session that may lack events must be a [PartialSession]; any other is taken for whole.
	// AppendEvent must accept it like one from Get. Errors are those of Get: a session that does
	// not exist is [ErrNotFound]. The method must be safe for concurrent use with all
	// others of the service.
	GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error)
}

// RecordReader is an inner session service that can read the records of a session without its other
// events. Package persistence has one. [Status] uses it to count what was ever written to a session
// that is loaded in part; from any other service it reads the whole session for that.
type RecordReader interface {
	// Records returns the events that store records, those that no view shows any more included, in
	// the order of storage. The filters of the request are ignored. Errors are those of Get: a session
	// that does not exist is [ErrNotFound]. The method must be safe for concurrent use with
	// all others of the service.
	Records(ctx context.Context, req *session.GetRequest) ([]*session.Event, error)
}

// Leaser is an inner session service that can let one process of many compact a session. A service that lacks it can
// be given leases by [Config].Lease.
type Leaser interface {
	// Lease takes the lease on a session for at most ttl, as the store's own clock counts. The clocks of processes
	// may differ. sess only identifies the session.
	//
	// ok is false if somebody has the lease; then there is no error, and release is nil. An error means that nobody
	// can tell, for example because the store cannot be reached.
	//
	// release gives the lease back. It gives back this one only: if it is called after ttl, when another process may
	// have a lease of its own, it does nothing. It may be called more than once, and after ctx has ended. A lease
	// that is not given back, because its process was killed, ends after ttl.
	//
	// A lease keeps no event from being stored. The method must be safe for concurrent use with all others of
	// the service.
	Lease(ctx context.Context, sess session.Session, ttl time.Duration) (release func(), ok bool, err error)
}

// PartialSession is a session that may have left events in storage. Its methods answer for the
// moment of loading, whatever is appended later, and must be safe for concurrent use. They are
// asked often, so they must not read storage.
type PartialSession interface {
	session.Session
	// Partial reports whether events were left in storage.
	Partial() bool
	// StoredEvents counts the events in storage, records among them. [Status] reports it; nothing
	// else depends on it.
	StoredEvents() int
	// Covered reports whether any record, loaded or not, stands for a loaded event. If it wrongly
	// says no, the event may be summarized, and paid for, a second time. If it wrongly says yes,
	// the event is never summarized, and stays in every prompt.
	Covered(eventID string) bool
	// Overtaken reports whether the invocation of a loaded event with calls is over because of a
	// message of the user that was not loaded: one of another invocation, behind the event, in a
	// branch that the event's agent sees. Where a loaded message shows the same, either answer is
	// right. For example, two runs on one session take turns:
	//
	//	call "book"    invocation 1   loaded: no record covers it
	//	user: hello    invocation 2   not loaded: a record covers it
	//	user: and?     invocation 1   loaded: the newest message
	//
	// The view must show a stand-in for the response to the call. If Overtaken wrongly says no, the
	// prompt has a call without a response, which providers refuse. If it wrongly says yes, the
	// model reads that a call was interrupted while its tool still runs.
	Overtaken(eventID string) bool
}

// The engine declares these interfaces once more, because it must not import this package.
var (
	_ storage.RecordAppender  = RecordAppender(nil)
	_ sessions.PartialService = PartialService(nil)
	_ sessions.PartialSession = PartialSession(nil)
	_ RecordAppender          = storage.RecordAppender(nil)
	_ PartialService          = sessions.PartialService(nil)
	_ PartialSession          = sessions.PartialSession(nil)
)
