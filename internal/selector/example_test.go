package selector_test

import (
	"fmt"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/tokens"
)

// After five turns, the oldest three may be summarized. The newest two stay raw.
func ExampleInvocations() {
	params := selector.Params{Threshold: 5, Overlap: 2, Size: tokens.OfEvent}
	var session compactiontest.History
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		session.Turn(n, "assistant", "What is on page "+n+"?", "A picture.")
		history := selector.Input{Events: session.Events}
		if sel := selector.Invocations(history, params, ""); sel.Empty() {
			fmt.Printf("turn %s: %s, %d more needed\n", n, sel.Reason, sel.Missing)
		} else {
			fmt.Printf("turn %s: %v\n", n, compactiontest.IDs(sel.Events))
		}
	}
	// Output:
	// turn 1: not due, 4 more needed
	// turn 2: not due, 3 more needed
	// turn 3: not due, 2 more needed
	// turn 4: not due, 1 more needed
	// turn 5: [e1 e2 e3 e4 e5 e6]
}
