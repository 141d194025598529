package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// backends are the rows of the matrix. The last one is the worst backend possible, which assigns
// its own event IDs.
func backends(t *testing.T) []storages.Storage {
	t.Helper()
	return append(storages.All(t), onStrict(compactiontest.StrictOptions{}))
}

// renames reports whether a backend assigns its own event IDs.
func renames(store storages.Storage) bool { return store.Name == "strict" }

func onStrict(opts compactiontest.StrictOptions) storages.Storage {
	return storages.Holding("strict", func() session.Service { return compactiontest.NewStrictService(opts) })
}

// arrangement is a column of the matrix: the decorators above and below our layer. nil means none.
type arrangement struct {
	name         string
	bare         bool
	above, below func(session.Service) session.Service
}

func arrangements() []arrangement {
	peeling := func(s session.Service) session.Service { return foreign{s, true} }
	passing := func(s session.Service) session.Service { return foreign{s, false} }
	return []arrangement{
		{name: "bare", bare: true},
		{name: "wrapped"},
		{name: "under one that peels", above: peeling},
		{name: "under one that does not peel", above: passing},
		{name: "over one that peels", below: peeling},
		{name: "over one that peels, under one that does not", above: passing, below: peeling},
	}
}

// stack puts the arrangement over a backend.
func (arr arrangement) stack(t *testing.T, inner session.Service) session.Service {
	t.Helper()
	if arr.below != nil {
		inner = arr.below(inner)
	}
	if arr.bare {
		return inner
	}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = &compactiontest.Oracle{}, true
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if arr.above != nil {
		return arr.above(svc)
	}
	return svc
}

// matrix runs f in every cell, or unless [testkit.Whole] in a third of them.
func matrix(t *testing.T, f func(t *testing.T, store storages.Storage, arr arrangement)) {
	t.Helper()
	type cell struct {
		store storages.Storage
		arrangement
	}
	var cells []cell
	for _, arr := range arrangements() {
		for _, store := range backends(t) {
			cells = append(cells, cell{store, arr})
		}
	}
	for _, c := range share(t, 3, cells) {
		t.Run(c.store.Name+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			f(t, c.store.Anew(t), c.arrangement)
		})
	}
}

// Every stack passes ADK's own suite for session services.
func TestMatrixPassesADKsSuite(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "package compaction runs ADK's suite over one stack")
	matrix(t, func(t *testing.T, store storages.Storage, arr arrangement) {
		opts := sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true, ProvidesServerAssignedEventID: renames(store)}
		sessiontestsuite.RunServiceTests(t, opts, func(t *testing.T) session.Service { return arr.stack(t, store.Anew(t).Open(t)) })
	})
}

// Every compacting stack passes our suite, whatever is above and below.
func TestMatrixPassesOurSuite(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "package compactiontest runs the suite over one stack")
	matrix(t, func(t *testing.T, store storages.Storage, arr arrangement) {
		if arr.bare {
			t.Skip("a bare service does not compact")
		}
		compactiontest.Run(t, func(t *testing.T) session.Service { return arr.stack(t, store.Anew(t).Open(t)) })
	})
}

// ADK's runner plays a session with tools over every stack, with many compactions by turns and by
// tokens. Every request to the model is checked.
func TestMatrixRunsLoseNothing(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "every stack compacts synchronously here")
	matrix(t, func(t *testing.T, store storages.Storage, arr arrangement) {
		a, x := matrixApp(t, store, synchronous, arr)
		for i := range 12 {
			for range i % 3 {
				x.will(a.lookups(1 + i%2))
			}
			a.chat(x, 1)
		}
		a.loop(x)
		a.checkLoop(x)
		a.chat(x, 6)
		if renames(store) {
			a.adoptStoredIDs()
		}
		if arr.bare {
			a.verify(0)
			return
		}
		a.verify(6)
	})
}

// lowThreshold compacts by tokens often and far from the window's end. Near the end, an extractive
// summary, which may lose facts, takes over if storage fails or the machine is slow.
func lowThreshold(cfg *compaction.Config) {
	smallWindow(cfg)
	cfg.ContextWindow = 100_000
}

// matrixApp is an app with one agent that has a tool.
func matrixApp(t *testing.T, store storages.Storage, m mode, arr arrangement) (*app, *actor) {
	t.Helper()
	a := newApp(t, store, m, withConfig(lowThreshold))
	a.above = arr.above
	if arr.below != nil {
		a.inner = arr.below(a.inner)
	}
	a.start(a.lookupAgent())
	if arr.bare {
		a.useRunner(a.inner)
	}
	return a, a.actors[0]
}

// lookupAgent returns an agent with the tool lookup.
func (a *app) lookupAgent() agent.Agent {
	a.t.Helper()
	return a.llm(newActor(a, "assistant", ""), func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} })
}

// adoptStoredIDs makes the IDs that storage assigned to agents' events the expected ones.
func (a *app) adoptStoredIDs() {
	a.t.Helper()
	raw := withoutRecords(a.raw())
	for i := range min(len(raw), len(a.history)) {
		if a.history[i].Author != "user" {
			a.history[i].ID = raw[i].ID
		}
	}
}
