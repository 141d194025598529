package integration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The service is removed after many compactions. From then on, every request equals the request of
// a twin that never had the service.
func TestWithoutTheServiceASessionIsAsIfItHadNeverBeenThere(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		var ran runs
		with := unwrappedApp(t, store, m, &ran)
		twin := unwrappedApp(t, store.Anew(t), mode{name: "bare"}, &ran)
		twin.useRunner(twin.inner)
		for _, a := range []*app{with, twin} {
			root, sub := a.actors[0], a.actors[1]
			a.chat(root, 8)
			root.will(transfer("billing"))
			a.chat(sub, 1)
			for range 10 {
				sub.will(a.lookups(2))
				a.chat(sub, 1)
			}
			if a == with {
				a.verify(3)
				with.mode = twin.mode
				with.useRunner(with.inner)
			}
			sub.will(a.lookups(1))
			a.chat(sub, 3)
		}
		for i, x := range with.actors {
			y := twin.actors[i]
			got, want := x.model.Requests(), y.model.Requests()
			if len(got) != len(want) {
				t.Fatalf("%s was asked %d times, its twin %d times", x.name, len(got), len(want))
			}
		}
		got, want := with.actors[1].model.Requests(), twin.actors[1].model.Requests()
		for i := len(want) - 4; i < len(want); i++ {
			if diff := cmp.Diff(canonical(want[i]), canonical(got[i])); diff != "" {
				t.Errorf("request %d differs from the twin's (-twin +this):\n%s", i, diff)
			}
		}
		if n := len(with.log.of(compaction.Stored)); n < 3 {
			t.Errorf("only %d compactions", n)
		}
	})
}

func unwrappedApp(t *testing.T, store storages.Storage, m mode, ran *runs) *app {
	t.Helper()
	a := newApp(t, store, m)
	root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
	billing := a.llm(sub, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.danger(ran, false)} })
	return a.start(a.llm(root, func(cfg *llmagent.Config) { cfg.SubAgents = []agent.Agent{billing} }))
}
