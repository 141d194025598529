package meter

import (
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// add takes in an event as the service does.
func add(t *Turns, ev *session.Event) (check bool) { return t.Add(ev.InvocationID, adk.Classify(ev)) }

// A job checks while the next turn begins. If that turn were forgotten, the next check would come
// one turn late or, at the end of a conversation, never.
func TestATurnThatBeginsDuringACheckCountsForTheNext(t *testing.T) {
	t.Parallel()
	var turns Turns
	h := (&ct.History{}).Turns(5, "bot")
	turn := func(n int) (check bool) { return add(&turns, h.Events[n-1]) }
	for n := 1; n <= 8; n++ {
		turn(n)
	}
	checked := turns.Checking() // it sees four turns: one is missing
	turn(9)
	checked(1)
	if !turn(10) {
		t.Error("the fifth turn has ended, and no check is due")
	}
}

// The fifth question has been asked and not answered yet: only its answer is missing.
func TestATurnThatIsUnderWayDuringACheckCountsForTheNext(t *testing.T) {
	t.Parallel()
	var turns Turns
	h := (&ct.History{}).Turns(5, "bot")
	for n := 1; n <= 9; n++ {
		add(&turns, h.Events[n-1])
	}
	checked := turns.Checking()
	checked(1)
	if !add(&turns, h.Events[9]) {
		t.Error("the fifth turn has ended, and no check is due")
	}
}

func TestNoCheckBeforeEnoughTurnsHaveBegun(t *testing.T) {
	t.Parallel()
	var turns Turns
	h := (&ct.History{}).Turns(6, "bot")
	var checks []int
	for i, ev := range h.Events {
		if add(&turns, ev) {
			checks = append(checks, i)
			turns.Checking()(4)
		}
	}
	if len(checks) != 2 || checks[0] != 1 || checks[1] != 9 {
		t.Errorf("checked after events %v, want 1 and 9: the ends of the first and the fifth turn", checks)
	}
}
