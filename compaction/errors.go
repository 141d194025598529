package compaction

import "errors"

// ErrCompaction marks an error of the bookkeeping: a compaction failed, the history is as it was and
// no turn was harmed. Get and AppendEvent never return it; Compact, Checkpoint and observations do.
// The cause is joined to it, so errors.Is finds both.
var ErrCompaction = errors.New("compaction failed")

var (
	errClosed    = errors.New("service is closed")
	errDeleted   = errors.New("session was deleted meanwhile")
	errHanging   = errors.New("an earlier summarizer call for this session has not returned yet")
	errNotStored = errors.New("store compaction record")
)
