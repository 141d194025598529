package selector

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Input is the view of a session, from which a selection is made. The functions of this package
// read it and change nothing.
type Input struct {
	// Events are the visible stored events in the order of the view, without summaries, stand-ins
	// and records. Nil events are skipped.
	Events []*session.Event
	// Covered reports whether a current record stands for an event. Such an event may still be
	// visible, for example as the call of a late answer. If nil, no event is covered.
	Covered func(*session.Event) bool
	// Current are the records whose summaries the view shows, in the order of the view.
	Current []*record.Metadata
}

// Params are the settings of a selection. Every function but Size may be nil.
type Params struct {
	// Threshold is θ: how many complete invocations make the invocation trigger due. 0 turns the
	// trigger off.
	Threshold int
	// Overlap is ω: how many of the newest complete invocations stay raw.
	Overlap int
	// Retain is how many of the newest events of a branch the token trigger keeps raw.
	Retain int
	// RetainTokens is the most that those events may take up together, by Size. Fewer stay raw if they are larger, but
	// the newest in any case. 0 means no limit.
	RetainTokens int
	// MaxTokens is the largest sum of Cost over one window: what the summarizer can read in one
	// call. 0 means no limit.
	MaxTokens int
	// Cost returns how many tokens of a summarizer's input an event takes up at least. Nil: 0. It is not called without
	// MaxTokens.
	Cost func(*session.Event) int
	// Size returns how many tokens of a prompt an event takes up. Required.
	Size func(*session.Event) int
	// MinTokens returns how many tokens the window of a key must have to be selected, see
	// [Selection.Key]. Nil: any number.
	MinTokens func(key string) int
	// Running reports whether an invocation is known to be running in this process. Nil: none is.
	Running func(invocationID string) bool
	// Left means that an invocation is over once the user has gone on in another, even if Running reports
	// it, unless it has spoken since or one of its tools has still to return. The end of a run is never
	// reported for certain: one that has failed may be taken for running as long as its process lives. If
	// it does run, beside the other, a summary has its question.
	Left bool
	// Pin reports whether an event must stay raw. Nil: no event must.
	Pin func(*session.Event) bool
	// Shared makes a selection for one branch after the other cheap. What Running and Pin report must be the same in all
	// selections with it, and so must the records of the input, unless their number differs. Nil: each starts anew.
	Shared *Shared

	// inTurn means that the selection may be made in the middle of a turn.
	inTurn bool
}

// Reason is why a selection is empty, "" if it is not. An idle session and a stuck one must not
// look alike.
type Reason string

// The reasons.
const (
	// NotDue: too few complete invocations; see [Selection.Missing].
	NotDue Reason = "not due"
	// NothingEligible: every event is covered, retained or pinned, or there are no events.
	NothingEligible Reason = "the newest turns always stay word for word, and nothing older is left to summarize"
	// Blocked: nothing is eligible, and open calls hold some of the events.
	Blocked Reason = "blocked by an open call"
	// TooSmall: no summary of a window of this size would be shorter, or one was tried and was not.
	TooSmall Reason = "what is left to summarize is so short that a summary would not be shorter"
	// TooLarge: no eligible unit is small enough for the summarizer to read it in one call.
	TooLarge Reason = "a single unit exceeds what the summarizer can read"
)

// Selection is a window, or the reason why there is none. All sizes are in estimated tokens.
type Selection struct {
	Reason Reason
	Branch string
	// Events are the window's events, in the order of the view. All are of Branch.
	Events []*session.Event
	// Absorb are the summaries that the window's record will also stand for, such as those of the
	// tool rounds of invocations that the window covers.
	Absorb []*record.Metadata
	// After is the event behind which the summary must be shown, and Agent the author of all events
	// of the window, if the window has tool rounds of an active invocation. Otherwise they are nil
	// and "".
	After *session.Event
	Agent string
	// GivenUp has one event for each unit of the window that still waits for a person: the first
	// event with a call. More than [MaxWaiting] units wait in the session, and these are the
	// oldest. Once the window is summarized, ADK can no longer find the agent for a late answer.
	GivenUp []*session.Event
	// Through is the newest event of the branch.
	Through *session.Event
	// Tokens is how much of a prompt the window takes up: the Size of its events, and of the
	// summaries that it absorbs.
	Tokens int
	// Cut means that more is eligible than the summarizer can read in one call. The rest fits
	// another window.
	Cut bool
	// Missing is how many more invocations must begin before the trigger can be due, if Reason is
	// NotDue. It is at least 1, even if an invocation that has begun could suffice once it goes on.
	Missing int

	rest *rest // see Next; nil if that returns nothing
}

// Empty reports whether there is nothing to summarize.
func (s *Selection) Empty() bool { return len(s.Events) == 0 }

// Key identifies the part of the history that the window belongs to: the branch, and for tool
// rounds the event behind which their summary is shown. So a window that proved too small does not
// hold back another one.
func (s *Selection) Key() string {
	if s.After == nil {
		return s.Branch
	}
	return s.Branch + "\x00" + s.After.ID
}
