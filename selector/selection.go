package selector

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Input is what a selection is made from.
type Input struct {
	// Events are the visible stored events in the order of the view; no summaries, no stand-ins, no
	// records.
	Events []*session.Event
	// Covered reports whether a live record stands for an event that is visible nevertheless.
	Covered func(*session.Event) bool
	// Current are the live records, in the order of the view.
	Current []*record.Metadata
}

// Params are the knobs of a selection. Functions may be nil.
type Params struct {
	// Threshold is θ: how many complete invocations make the invocation trigger due; 0 turns it off.
	Threshold int
	// Overlap is ω: how many of the newest complete invocations stay raw.
	Overlap int
	// Retain is how many of the newest events of a branch the token trigger leaves alone.
	Retain int
	// MaxTokens bounds the sum of Cost over a window; 0 does not bound it.
	MaxTokens int
	// Cost is what an event takes up at least in a summarizer's input, in tokens.
	Cost func(*session.Event) int
	// Size is what an event takes up in a prompt, in tokens. Required.
	Size func(*session.Event) int
	// MinTokens is what a window must reach to be tried, by its key; see [Selection.Key].
	MinTokens func(key string) int
	// Running reports whether an invocation is known to be running in this process.
	Running func(invocationID string) bool
	// Pin reports whether an event must stay raw.
	Pin func(*session.Event) bool

	// inTurn says that the selection may be made in the middle of a turn.
	inTurn bool
}

// Reason says why a selection is empty. The zero value means that it is not.
type Reason string

// The reasons.
const (
	// NotDue: too few complete invocations; Selection.Missing says how many more are needed.
	NotDue Reason = "not due"
	// NothingEligible: everything is covered, retained or pinned, or there is nothing.
	NothingEligible Reason = "nothing eligible"
	// Blocked: nothing is eligible, and open calls hold some of it.
	Blocked Reason = "blocked by an open call"
	// TooSmall: no summary of a window of this size would be shorter, or one was tried and was not.
	TooSmall Reason = "window is too small for a summary to be shorter"
	// TooLarge: what is eligible does not fit the summarizer's input, not even one unit of it.
	TooLarge Reason = "a single unit exceeds what the summarizer can read"
)

// Selection is a window, or the reason why there is none.
type Selection struct {
	Reason Reason
	Branch string
	// Events are the window's events, in the order of the view, all of Branch.
	Events []*session.Event
	// Absorb are summaries of tool rounds of invocations in the window: their turn is over, so the
	// window's record takes them in.
	Absorb []*record.Metadata
	// After is the event that the summary stands behind, and Agent the author of the window, when the
	// window holds tool rounds of a live invocation; nil and "" otherwise.
	After *session.Event
	Agent string
	// GivenUp are events of the window whose calls wait for an answer or a confirmation, one for each
	// group of calls that belong together: there are more than [MaxWaiting] such groups in the session, and
	// these are the oldest. Once the window is summarized, ADK finds the agent of a late answer no more.
	GivenUp []*session.Event
	// Through is the newest event of the branch.
	Through *session.Event
	// Tokens is what the window takes up in a prompt: Size of its events, and the summaries it absorbs.
	Tokens int
	// Cut says that more is waiting than the window holds, and would fit another one.
	Cut bool
	// Missing is how many more invocations must begin before the trigger can be due, when Reason is
	// NotDue: at least 1, even where one that has begun would do if it went on.
	Missing int
}

// Empty reports whether there is nothing to summarize.
func (s *Selection) Empty() bool { return len(s.Events) == 0 }

// Key names the stretch of history that the window belongs to, so that what was learned about one
// window is not applied to another: the branch, and for tool rounds the event they stand behind.
func (s *Selection) Key() string {
	if s.After == nil {
		return s.Branch
	}
	return s.Branch + "\x00" + s.After.ID
}
