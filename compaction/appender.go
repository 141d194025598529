package compaction

import (
	"errors"
	"reflect"

	"google.golang.org/adk/session"
)

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
