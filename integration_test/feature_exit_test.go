package integration_test

import (
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/exitlooptool"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The tool's result is the answer, and no text of the agent follows. Requests have a context each,
// or share one.
func TestTurnsThatEndInAToolAreCompactedByTurns(t *testing.T) {
	t.Parallel()
	for name, requests := range map[string]bool{"a context for each": true, "one context": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, storages.InMemory(), synchronous)
			a.requests = requests
			x := newActor(a, "assistant", "")
			exit, err := exitlooptool.New()
			if err != nil {
				t.Fatal(err)
			}
			a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), exit} }))
			for range 24 {
				x.will(a.lookups(1), exitLoop())
				a.ask()
			}
			a.verify(4)
		})
	}
}
