package replay

import (
	"fmt"
	"strings"
)

// Checker is what a test demands of a [Report]. The zero value demands what every policy must keep:
//
//   - "pairs": no prompt has a call without its response, or a response without its call.
//   - "view": every view is well-formed, and each event that it hides is part of a summary.
//   - "calls": the model is not called more often than without compaction.
//   - "limit": no prompt is over the limit without need (see [Overlong.Needless]).
//   - "facts": every fact of Options.Facts survives.
type Checker struct {
	// MinKept is the smallest share of the recording's questions, in percent from 0 to 100, whose
	// answer must be in the last prompt (rule "questions"). Zero demands none. Questions that the
	// whole history does not answer either do not count.
	MinKept float64
	// MinSaved is the smallest Report.SavedPercent (rule "savings"). Zero demands nothing.
	MinSaved float64
	// AllowOverlong drops the rule "limit", for a policy without a token trigger: nothing keeps its
	// prompts below the limit.
	AllowOverlong bool
}

// Failure is one demand that a report does not meet.
type Failure struct {
	// Rule is the demand: one of "pairs", "view", "calls", "limit", "facts", "questions" and "savings", see [Checker].
	Rule string
	// Text is what was found, in one line.
	Text string
}

// CheckError lists every demand that a report does not meet, at least one. [Checker.Check] always
// returns it as a pointer.
type CheckError struct {
	// Conversation and Policy are the report's ID and policy.
	Conversation, Policy string
	Failures             []Failure
}

// Error has a line for the report and a line for each failure.
func (e *CheckError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "conversation %s, policy %q:", e.Conversation, e.Policy)
	for _, f := range e.Failures {
		fmt.Fprintf(&b, "\n  %s: %s", f.Rule, f.Text)
	}
	return b.String()
}

// Check returns nil if r meets every demand, and a [*CheckError] otherwise. It does not change r.
func (k Checker) Check(r *Report) error {
	e := &CheckError{Conversation: r.ID, Policy: r.Policy}
	fail := func(rule, format string, args ...any) {
		e.Failures = append(e.Failures, Failure{rule, fmt.Sprintf(format, args...)})
	}
	if r.Orphans > 0 {
		fail("pairs", "prompts have %d calls or responses without the other side", r.Orphans)
	}
	for _, problem := range r.Problems {
		fail("view", "%s", problem)
	}
	if more := r.Hidden - len(r.Problems); more > 0 {
		fail("view", "%d more violations", more)
	}
	if extra := r.With.ModelCalls - r.Without.ModelCalls; extra > 0 {
		fail("calls", "the model was called %d times more than without compaction", extra)
	}
	for _, o := range r.Over {
		if o.Needless() && !k.AllowOverlong {
			fail("limit", "the prompt of call %d in turn %d has %d tokens, over the limit of %d, although only %d must stay raw",
				o.Call, o.Turn, o.Tokens, r.Limit, o.KeptTokens)
		}
	}
	for _, fact := range r.Lost {
		fail("facts", "%q is in no message and in no summary at the end", fact)
	}
	if f := r.Facts; f != nil && f.Questions > 0 {
		if kept := 100 * float64(f.Kept) / float64(f.Questions); kept < min(k.MinKept, 100) {
			fail("questions", "the last prompt answers %d of %d questions (%.1f%%, want %.1f%%); the first that it does not: %q",
				f.Kept, f.Questions, kept, k.MinKept, r.Unanswered[0])
		}
	}
	if k.MinSaved != 0 && r.SavedPercent < k.MinSaved {
		fail("savings", "the policy saved %.1f%% of the prompt tokens, want %.1f%%", r.SavedPercent, k.MinSaved)
	}
	if len(e.Failures) == 0 {
		return nil
	}
	return e
}
