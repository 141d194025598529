package meter

import (
	"sync"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Turns counts the invocations that begin in a session, so that the invocation trigger is checked
// only where it may be due. The zero value checks at the end of the first turn. For a trigger of
// five turns:
//
//	turn 1 ends       check: four are missing
//	turns 2 to 4 end  no check
//	turn 5 ends       check: due
type Turns struct {
	mu sync.Mutex
	// begun counts the invocations that began since the last check, and missing is how many must
	// begin before the next. An invocation counts twice when the events of two runs alternate,
	// which costs a check and nothing else.
	begun, missing int
	invocation     string
	open           bool // the invocation has not answered yet
}

// Add notes an appended event of an invocation and reports whether the invocation trigger must be checked.
func (t *Turns) Add(invocationID string, class adk.Class) (check bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if invocationID != t.invocation {
		t.invocation = invocationID
		t.begun++
		t.open = true
	}
	if !class.Is(adk.EndsTurn) {
		return false
	}
	t.open = false
	return t.begun >= t.missing
}

// Checking notes that a check begins. The function that it returns takes how many invocations the
// check found missing. Invocations that begin in between count for the next check, and so does one
// that has not answered yet: its answer may be all that is missing.
func (t *Turns) Checking() (checked func(missing int)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.begun
	if t.open {
		before--
	}
	return func(missing int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.begun, t.missing = max(0, t.begun-before), missing
	}
}
