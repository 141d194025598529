package integration_test

import (
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The test asks sixty questions. In some modes the service is closed and reopened over the same
// storage every few turns.
func TestSixtyTurnsOfChatLoseNothing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, nil))
		for range m.turns(store, 60) {
			x.will(answer())
			a.ask()
		}
		a.verify(a.turns / 8)
	})
}

// Every turn calls tools: one, several in sequence, or several in parallel.
func TestSixtyTurnsWithToolsLoseNothing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		turns := m.turns(store, 60)
		if store.Name == "database" {
			turns = min(turns, 36)
		}
		for i := range turns {
			switch i % 4 {
			case 0:
				x.will(a.lookups(1), answer())
			case 1:
				x.will(a.lookups(3), answer())
			case 2:
				x.will(a.lookups(1), a.lookups(2), answer())
			default:
				x.will(answer())
			}
			a.ask()
		}
		a.verify(a.turns / 8)
	})
}
