package watchdog

import (
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// Step is one answer of a model with the results of the tools that it called.
type Step struct {
	// Invocation and Branch name the lane that the step belongs to. Steps of different lanes are never
	// compared. A user's message begins a new invocation. In an isolation scope of ADK v2 it is part of Branch, behind
	// a byte 0x1F.
	Invocation, Branch string
	// Agent is the author of the answer. The same call of two agents is two calls.
	Agent string
	// Calls are the tool calls of the answer. Their order has no meaning, because tools run in parallel. Calls
	// that wait for somebody, such as long-running ones and those to be confirmed, are left out.
	Calls []Call
	// Text is true if the answer has text for the user.
	Text bool
	// PromptTokens is the size of the prompt that the answer is for, as the provider counted it. 0 means
	// that it is not known.
	PromptTokens int
	// Cost is the price of the answer. 0 means that it is not known, or nothing.
	Cost tokens.Nano
	// Files names files that the calls have changed, for [FilesNotTouched].
	Files []string
	// Time is when the answer was stored, for [CostRate]. The zero time means that it is not known.
	Time time.Time

	prepared bool // Calls are sorted, and have their hashes
}

// Call is a tool call with its result.
type Call struct {
	ID, Tool string
	// Args is the canonical JSON of the arguments, as [Watchdog.Call] makes it.
	Args string
	// Result is the result, the zero Result if it is not known.
	Result Result
	// Polling is true for a tool of [Config].Polling. The Watchdog fills it in.
	Polling bool

	// Hashes of the agent and: the tool, the call, the call with its result, the tool with its result.
	tool, call, like, answer uint64
}

// Result is what a watchdog needs to know of a tool's result.
type Result struct {
	// Known is true if the tool has answered.
	Known bool
	// Hash is equal for like results, and different for others: see [Watchdog.Call].
	Hash uint64
	// Error is true if the tool failed, NoOp if it says by no_op that it did nothing.
	Error, NoOp bool
	// Acknowledges is true for a result that says no more than that the call worked. Each write of a sweep
	// has one, and a check between two edits, each time that it passes.
	Acknowledges bool

	// whole is of the result as it is, 0 if that is not known; shape is without whole numbers, too, and numbers is their sum.
	whole, shape uint64
	numbers      int64
	finds        bool // it says something else than that nothing was found
}

// Severity is how sure it is that a pattern is a loop.
type Severity int

// The severities. The zero value is Warning.
const (
	// Warning is for patterns that may be work. They are reported, and never end a run.
	Warning Severity = iota
	// Critical is for patterns of like calls with known and like results. They may end a run.
	Critical
)

// String returns "warning" or "critical".
func (s Severity) String() string {
	if s == Critical {
		return "critical"
	}
	return "warning"
}

// Alert is a pattern that a signal has found.
type Alert struct {
	// Signal is the name of the signal. The Watchdog fills in Signal, Invocation, Branch and Agent.
	Signal                    string
	Invocation, Branch, Agent string
	// Tool is the tool that is called over and over, "" for several or none.
	Tool string
	// Pattern distinguishes patterns that one signal finds. A pattern that goes on is reported once. "" stands
	// for the one pattern of a signal that knows no others.
	Pattern string
	// Severity is Critical only if all calls of the pattern have known and like results.
	Severity Severity
	// Count is how often the call was seen, or the lap made, so far.
	Count int
	// Text says what was found, for people. It has no arguments and no results.
	Text string
	// Note says it to the model, with advice, in brackets: "[You …]". "" means that the model is not told.
	Note string

	calls bool // it is about calls, also where Tool is ""
}

// Signal finds one kind of pattern on one branch of an agent tree. It is not used concurrently.
type Signal interface {
	// Name is the signal's name, the same every time.
	Name() string
	// Observe takes the next step, and returns an alert for as long as the step continues a pattern:
	// the Watchdog reports the first alert of a pattern only, and counts the others. It must not keep or
	// change the step's slices. A signal that panics is left out from then on.
	Observe(s Step) *Alert
	// Reset forgets all steps. A [Watchdog] does not call it: each lane gets signals of its own.
	Reset()
}
