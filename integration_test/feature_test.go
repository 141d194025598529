package integration_test

import (
	"testing"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// feature is an ability of agents, used in every turn of a session that is compacted throughout.
type feature struct {
	name string
	// prepare creates the agents. Their actors check every request.
	prepare func(a *app) play
	// branches must all have a summary at the end.
	branches []string
	// unordered is as in app.
	unordered bool
}

// play is a feature in use by one app.
type play struct {
	root agent.Agent
	// turn plans and runs turn i, from 0.
	turn func(i int)
	// after checks the whole session at the end, if not nil.
	after func()
}

// pressures are configurations that compact often, even in a short session.
var pressures = []struct {
	name   string
	change func(*compaction.Config)
}{
	{"every few turns", func(cfg *compaction.Config) { cfg.InvocationThreshold, cfg.OverlapSize = 3, 1 }},
	{"every turn", func(cfg *compaction.Config) { cfg.InvocationThreshold, cfg.OverlapSize = 1, 1 }},
	{"by tokens", func(cfg *compaction.Config) {
		smallWindow(cfg)
		cfg.InvocationThreshold, cfg.RetainEvents = compaction.Off, 4
	}},
}

// playAll plays every feature under every pressure. Over the databases it plays only the first
// pressure, to save time. Unless [testkit.Whole], it plays the others in one mode each.
func playAll(t *testing.T, features []feature) {
	t.Helper()
	for n, f := range features {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for i, pressure := range pressures {
				if testkit.Race && i > 0 {
					break
				}
				run, modes := overStorages, []mode{synchronous, flushed, background, reopened}
				if i > 0 {
					run, modes = inMemoryIn, modes[:2]
					if !testkit.Whole() && !testkit.Brief() {
						modes = modes[(n+i)%2:][:1]
					}
				} else if !testkit.Race {
					modes = append(modes, layered)
				}
				t.Run(pressure.name, func(t *testing.T) {
					t.Parallel()
					run(t, modes, func(t *testing.T, store storages.Storage, m mode) {
						f.play(newApp(t, store, m, withConfig(pressure.change)))
					})
				})
			}
		})
	}
}

func (f feature) play(a *app) {
	a.t.Helper()
	a.unordered, a.requests = f.unordered, true
	p := f.prepare(a)
	a.start(p.root)
	n := 24
	if a.store.Name == "database" {
		n = 10
	}
	for i := range n {
		p.turn(i)
	}
	a.compactAll()
	p.turn(n)
	p.turn(n + 1)
	if a.cfg.InvocationThreshold == compaction.Off { // by tokens, the branch with the largest saving comes first
		a.verify(2)
	} else {
		a.verify(n / 6)
		a.checkBranches(f.branches...)
	}
	if p.after != nil {
		p.after()
	}
}
