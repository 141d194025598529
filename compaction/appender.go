package compaction

import (
	"context"
	"errors"
	"reflect"

	"google.golang.org/adk/session"
)

// RecordAppender is an inner session service that can store a record at any time without harm to
// anybody's turn, in this process or in another. A service that lacks it gets its records with the
// appends of turns; see [NewCompactionService].
type RecordAppender interface {
	// AppendRecord stores a record event in the session that sess names. sess only identifies the
	// session: it may be stale, and it is not changed. ev has no content, an ID that is unique, and
	// the record in its CustomMetadata.
	//
	// The method stores the event and nothing else: it changes neither the session's state nor its
	// last update time, stores the event with that time as its timestamp, and sets ev.Timestamp to it.
	// In one transaction with that it checks that every event that the record covers is stored and not
	// covered by another record, and that every record that it absorbs is still current. Otherwise it
	// stores nothing and returns an error that has, in its chain, a method Superseded() bool that
	// returns true. A record that is stored already, by its record ID, is not stored again, and ev is
	// set to the stored event: a call whose answer was lost can be repeated.
	//
	// A session that does not exist is [session.ErrNotFound]. The method must be safe for concurrent
	// use with all others of the service, and must honor ctx.
	AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error
}

// isSuperseded reports whether a RecordAppender refused a record because others have done its work.
func isSuperseded(err error) bool {
	var superseded interface{ Superseded() bool }
	return errors.As(err, &superseded) && superseded.Superseded()
}

// inMemoryType is the type of ADK's in-memory service. It lives in one process, checks no update time
// and merges state key by key, so a record that is appended beside a turn does no harm.
var inMemoryType = reflect.TypeOf(session.InMemoryService())

// storing says when the records of background jobs may be stored over an inner service.
type storing int

const (
	// storesInTurns is for any service that is not known to be safer: ADK's database service writes the
	// whole session row with every append, so a record that is appended between turns can erase the
	// state that another process writes, make its handle stale, or lock it out. A record is therefore
	// stored by this process's next append to the session, through the same handle.
	storesInTurns storing = iota
	// storesAtOnce is for a RecordAppender.
	storesAtOnce
	// storesFreely is for ADK's in-memory service: at once, through a handle of its own.
	storesFreely
)

func storingOf(inner session.Service) storing {
	switch {
	case reflect.TypeOf(inner) == inMemoryType:
		return storesFreely
	case asRecordAppender(inner) != nil:
		return storesAtOnce
	default:
		return storesInTurns
	}
}

func asRecordAppender(inner session.Service) RecordAppender {
	appender, _ := inner.(RecordAppender)
	return appender
}
