package compactiontest

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/oracle"
)

// Check compares a view with the full history it was made from, and returns every violation of the
// rules that a view must keep, joined; nil if there is none. Each error says what a model or ADK
// would do wrong with such a view. Events of the view that are stored are those of the history by
// pointer; every other one is taken for a summary.
//
// It shares no code with the implementation of the view, changes nothing and is safe for concurrent
// use. Its time grows with the length of the history.
func Check(events, view []*session.Event) error { return oracle.Check(events, view) }
