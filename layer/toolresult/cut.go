package toolresult

import (
	"fmt"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Kind is the way in which a result was shortened.
type Kind string

// The kinds.
const (
	Shortened Kind = "cut"      // parts of it are left out
	Stubbed   Kind = "stub"     // a short text that explains how to read it takes its place
	Repaired  Kind = "repaired" // within the limits, but texts replace values that JSON cannot hold
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
	Ref          string // of the whole result; empty if read_result cannot read it, or if it is only repaired

	// The sizes before and after, in the units of [Limits]: bytes of JSON, lines of texts, and tokens, of large results
	// from samples. Neither the bytes nor the tokens after a cut are more than before.
	BytesBefore, BytesAfter   int
	LinesBefore, LinesAfter   int
	TokensBefore, TokensAfter int
}

// String is the line of [Cutter.TruncateLog]. It quotes names, so it is always one line.
func (c Cut) String() string {
	ref := c.Ref
	if ref == "" {
		ref = "none"
	}
	return fmt.Sprintf("%s: tool %q, call %q, event %q, invocation %q, author %q, session %q/%q/%q: %s -> %s bytes, %s -> %s lines, ~%s -> ~%s tokens, ref_id %s",
		c.Kind, c.Tool, c.CallID, c.EventID, c.InvocationID, c.Author, c.Session.AppName, c.Session.UserID, c.Session.SessionID,
		grouped(c.BytesBefore), grouped(c.BytesAfter), grouped(c.LinesBefore), grouped(c.LinesAfter), grouped(c.TokensBefore), grouped(c.TokensAfter), ref)
}

// shorter reports whether a cut is a gain.
func (c Cut) shorter() bool { return c.BytesAfter < c.BytesBefore && c.TokensAfter <= c.TokensBefore }
