package persistence_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence"
)

// GetActive loads a few dozen of 20,000 events, although every turn uses the same call ID.
func TestAViewOfALongSessionLoadsLittle(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "5,000 turns in one goroutine")
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	newKeeper(t, s, "s").turns(5000)
	few := active(t, s, "s")
	if n := few.StoredEvents(); n < 20_000 {
		t.Fatalf("only %d events are stored", n)
	}
	if n := few.Events().Len(); n < 8 || n > 40 {
		t.Errorf("%d of %d events are loaded", n, few.StoredEvents())
	}
	if !sameView(t, s, "s") {
		t.Error("everything was loaded")
	}
}
