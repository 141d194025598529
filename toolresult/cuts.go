package toolresult

import (
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/adk-go-ext/longsession/toolresult/store"
)

// Kind is what happened to a result.
type Kind string

// The kinds.
const (
	Shortened Kind = "cut"  // parts of it are left out
	Stubbed   Kind = "stub" // it is replaced by a short text that says how to read it
)

// Cut is one tool result that was shortened.
type Cut struct {
	Session      store.Owner // empty unless [Cutter.Event] was given one
	EventID      string
	InvocationID string
	Author       string // the agent
	Part         int    // the index of the result among the parts of its event
	Tool         string
	CallID       string
	Kind         Kind
	Ref          string // of the whole result, for read_result; empty if the Config is not Readable

	// The sizes before and after. Bytes are those of the result's text, or of its JSON if it is not one
	// text. Tokens are estimates, for large results from samples.
	BytesBefore, BytesAfter   int
	LinesBefore, LinesAfter   int
	TokensBefore, TokensAfter int
}

// String is the line of [Cutter.TruncateLog].
func (c Cut) String() string {
	ref := c.Ref
	if ref == "" {
		ref = "none"
	}
	return fmt.Sprintf("%s: tool %q, call %q, event %q, invocation %q, author %q, session %q/%q/%q: %s -> %s bytes, %s -> %s lines, ~%s -> ~%s tokens, ref_id %s",
		c.Kind, c.Tool, c.CallID, c.EventID, c.InvocationID, c.Author, c.Session.AppName, c.Session.UserID, c.Session.SessionID,
		grouped(c.BytesBefore), grouped(c.BytesAfter), grouped(c.LinesBefore), grouped(c.LinesAfter), grouped(c.TokensBefore), grouped(c.TokensAfter), ref)
}

// The sizes of the log: it has the newest lines, and a cut that is seen again is not reported again as
// long as it is among the newest.
const (
	maxLogLines = 1_000
	maxSeen     = 8_192
)

// cutLog keeps the newest lines, and knows which cuts it has seen. Each Get of a session shortens all of its
// events anew, which is no news.
type cutLog struct {
	mu        sync.Mutex
	lines     []string // a ring once it is full
	next      int      // the oldest line of a full ring
	seen, old map[uint64]struct{}
}

var logSeed = maphash.MakeSeed() // only for membership, never for an order

// add logs the cuts that are new and reports them.
func (l *cutLog) add(cuts []Cut, observer func(Cut)) {
	for _, cut := range cuts {
		if l.note(cut) && observer != nil {
			observe(observer, cut)
		}
	}
}

func observe(observer func(Cut), cut Cut) {
	defer func() { _ = recover() }()
	observer(cut)
}

// note adds a line for a cut that is new.
func (l *cutLog) note(cut Cut) bool {
	key := maphash.Comparable(logSeed, cut)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, seen := l.seen[key]
	_, before := l.old[key]
	if seen || before {
		return false
	}
	if len(l.seen) >= maxSeen {
		l.seen, l.old = nil, l.seen
	}
	if l.seen == nil {
		l.seen = make(map[uint64]struct{})
	}
	l.seen[key] = struct{}{}
	if len(l.lines) < maxLogLines {
		l.lines = append(l.lines, cut.String())
		return true
	}
	l.lines[l.next] = cut.String()
	l.next = (l.next + 1) % maxLogLines
	return true
}

// TruncateLog returns a line for each of the newest 1,000 results that [Cutter.Event] shortened in this
// process, oldest first. [Cutter.Cuts] computes those of a whole history.
func (c *Cutter) TruncateLog() []string {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	lines := make([]string, 0, len(c.log.lines))
	lines = append(lines, c.log.lines[c.log.next:]...)
	return append(lines, c.log.lines[:c.log.next]...)
}

// setSizes fills in the sizes of a cut.
func (c *Cut) setSizes(before, after map[string]any) {
	c.BytesBefore, c.LinesBefore, c.TokensBefore = sizesOf(before)
	c.BytesAfter, c.LinesAfter, c.TokensAfter = sizesOf(after)
}
