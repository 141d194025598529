package persistence_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence"
)

// The file is at most 1.3 times as large as the JSON of its events, including indexes.
func TestTheFileIsNotMuchLargerThanItsEvents(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "a long session in one goroutine")
	path := newPath(t)
	s, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	sess := create(t, s, "s")
	sum := 0
	for n := range 2000 {
		ev := typical(n)
		text, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		sum += len(text)
		appendTo(t, s, sess, ev)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	ratio := float64(info.Size()) / float64(sum)
	t.Logf("%d bytes of JSON, %d of file: %.2f", sum, info.Size(), ratio)
	// 0.75 with ADK v1, whose JSON of an event is nearly twice as long as that of v2.
	if ratio > 1.4 {
		t.Errorf("the file is %.2f times the JSON of its events", ratio)
	}
}
