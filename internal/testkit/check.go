package testkit

import (
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// Random input is the same in every run, so that a change goes in or not for what it does, never for the input that
// its run happened to draw. LONGSESSION_SOAK looks for new input, and so does -rapid.seed.
func init() {
	if os.Getenv("LONGSESSION_SOAK") != "" {
		return
	}
	if seed := flag.Lookup("rapid.seed"); seed != nil && seed.Value.String() == seed.DefValue {
		if err := seed.Value.Set("1"); err != nil {
			panic(err)
		}
	}
}

// Check plays a property over random input, as [rapid.Check] does, but over the same input in every run unless
// LONGSESSION_SOAK is set.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, property)
}

// CheckUntil plays a property in as many rounds of [Check] as [Rounds] says, each over input of its own, and then on
// until enough returns nil. What random input holds is chance: a test that met too little of what it is about proves
// nothing, and one that failed for it now and then would be a flaky test. After ten times as many rounds the error that
// enough returns ends the test.
func CheckUntil(t *testing.T, usually int, property func(*rapid.T), enough func() error) {
	t.Helper()
	rounds := Rounds(t, usually)
	for round := 0; ; round++ {
		if round >= rounds {
			lacks := enough()
			if lacks == nil {
				return
			}
			if round == 10*rounds {
				t.Fatalf("the test shows too little: %v", lacks)
			}
		}
		Check(t, func(t *rapid.T) {
			// Rounds that begin with the same seed part here: what a round draws begins so many numbers later.
			for range round {
				rapid.Uint64().Draw(t, "round")
			}
			property(t)
		})
	}
}
