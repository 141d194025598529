package compactiontest

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/oracle"
)

// Check compares a view with the full history it was made from. It returns every violation of the
// rules that a view must keep, joined, or nil if there is none. Each error names the damage that
// such a view does to a model's prompt or to ADK. Check recognizes stored events by pointer: an
// event of the view that is not in the history is taken for a summary.
//
// Check shares no code with the implementation of the view, modifies no argument and is safe for
// concurrent use. Its running time grows with the length of the history.
func Check(events, view []*session.Event) error { return oracle.Check(events, view) }
