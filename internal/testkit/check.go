package testkit

import (
	"testing"

	"pgregory.net/rapid"
)

// Check plays a property over random input in as many rounds of [rapid.Check] as [Rounds] says, and then on until
// enough returns nil. What random input holds is chance: a test that met too little of what it is about proves nothing,
// and one that failed for it now and then would be a flaky test. After ten times as many rounds the error that enough
// returns ends the test.
func Check(t *testing.T, usually int, property func(*rapid.T), enough func() error) {
	t.Helper()
	rounds := Rounds(t, usually)
	for range rounds {
		rapid.Check(t, property)
	}
	for more := 9 * rounds; ; more-- {
		lacks := enough()
		if lacks == nil {
			return
		}
		if more == 0 {
			t.Fatalf("the test shows too little: %v", lacks)
		}
		rapid.Check(t, property)
	}
}
