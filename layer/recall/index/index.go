// Package index is what package recall asks a session service that has an index of words of its own. A service without
// one needs nothing: recall then keeps an index in memory.
package index

import (
	"context"
	"time"

	"google.golang.org/adk/session"
)

// Index is a session service that finds the events of its sessions by their words, such as the one of package
// persistence, which keeps an index in its file. It is safe for concurrent use.
type Index interface {
	// SearchText returns the events of one session that fit a query best, the best first. It takes in first
	// what was appended since it was asked last. A query without a term finds nothing. Errors wrap
	// [compaction.ErrNotFound] if there is no such session. The request's filters are ignored.
	SearchText(ctx context.Context, req *session.GetRequest, q Query) ([]Hit, error)
}

// Query is what to look for.
type Query struct {
	// Text is the question, in any language and of any length.
	Text string
	// From and To bound the events' timestamps, both ends included. Zero means no bound.
	From, To time.Time
	// Limit is how many hits to return at most, and at most 1,000. 0 and less mean 8.
	Limit int
	// Around is how many events that may be returned come with each hit, before it and as many after it. 0
	// means none.
	Around int
	// May reports whether an event may be returned, as a hit or as a neighbor. It must not change the event. If
	// nil, every event may.
	May func(*session.Event) bool
	// Redact returns a text without what must not be indexed. It must be the same function for all calls, pure,
	// and safe for concurrent use. If nil, texts are indexed as they are.
	Redact func(string) string
}

// Hit is one event that was found. Events belong to the index, and must not be changed.
type Hit struct {
	Event *session.Event
	// Position is that of the event in the session, from 0. Records and other events that say nothing count.
	Position int
	// Turn is the number of the turn of the user that the event belongs to, from 1; 0 is what comes before the first.
	Turn int
	// Score orders hits of one search. Scores of different searches and sessions are not to be compared.
	Score float64
	// Before and After are the neighbors, in the order of the session.
	Before, After []Neighbor
}

// Neighbor is an event next to a hit.
type Neighbor struct {
	Event          *session.Event
	Position, Turn int
}
