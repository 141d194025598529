package difference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// chance is true n times of a hundred.
func chance(t *rapid.T, n int, label string) bool {
	return rapid.IntRange(0, 99).Draw(t, label) >= 100-n
}

// drawTree draws an agent with up to two levels below it.
func drawTree(t *rapid.T, depth int, names *int, parallels bool) *node {
	n := &node{name: fmt.Sprintf("agent%d", *names), kind: llm}
	*names++
	children := 0
	if depth > 0 && *names < 7 {
		kinds := []kind{llm, llm, llm, sequential, loop}
		if parallels {
			kinds = append(kinds, parallel)
		}
		n.kind = rapid.SampledFrom(kinds).Draw(t, "kind")
		children = rapid.IntRange(0, 3).Draw(t, "children")
		if n.kind != llm {
			children = max(children, 1)
		}
	}
	if children == 0 && chance(t, 10, "remote") {
		n.kind = remote
	}
	for range children {
		n.children = append(n.children, drawTree(t, depth-1, names, parallels))
	}
	if n.kind == llm {
		n.noParent, n.noPeers = chance(t, 25, "no parent"), chance(t, 25, "no peers")
		n.none, n.expert = chance(t, 25, "none"), chance(t, 15, "expert")
	}
	return n
}

// drawPlans draws what the models of a tree answer.
func drawPlans(t *rapid.T, root *node) {
	var names []string
	root.each(func(n *node) { names = append(names, n.name) })
	root.each(func(n *node) {
		if n.kind != llm && n.kind != remote {
			return
		}
		for range rapid.IntRange(0, 16).Draw(t, "steps") {
			n.plan = append(n.plan, drawStep(t, n, names))
		}
	})
	root.each(func(above *node) {
		if above.kind == parallel {
			above.each(keepsGoing)
		}
	})
}

// keepsGoing takes out of a plan what ends a turn with an error: ADK then ends the agents beside it, wherever they are.
// Over ADK v2 that includes tools that need a confirmation. It runs a confirmed tool in each of several agents side by
// side, and if two of them then find no call for its result, the process ends, now and then, in a panic of ADK's own.
func keepsGoing(n *node) {
	n.plan = slices.DeleteFunc(n.plan, func(s step) bool {
		return s.fail || adk.Major == 2 && slices.Contains(s.calls, "refund") ||
			slices.ContainsFunc(s.calls, func(name string) bool { return strings.HasPrefix(name, "transfer:") })
	})
}

func drawStep(t *rapid.T, n *node, names []string) step {
	if n.kind == remote { // what it waits for is between the agents
		return rapid.SampledFrom([]step{says, calls("lookup"), calls("lookup", "file"), {fail: true}}).Draw(t, "remote step")
	}
	switch rapid.SampledFrom([]string{"says", "calls", "calls", "calls", "transfers", "transfers", "fails"}).Draw(t, "step") {
	case "transfers":
		to := calls("transfer:" + rapid.SampledFrom(names).Draw(t, "to"))
		if chance(t, 20, "and calls") {
			to.calls = append(to.calls, "order")
		}
		return to
	case "fails":
		return step{fail: chance(t, 50, "fails"), words: 20}
	case "says":
		return step{words: rapid.IntRange(3, 200).Draw(t, "words")}
	}
	tools := []string{"lookup", "lookup", "file", "order", "refund", "export"}
	if n.expert {
		tools = append(tools, "expert")
	}
	return step{calls: rapid.SliceOfN(rapid.SampledFrom(tools), 1, 3).Draw(t, "calls")}
}

func drawTurn(t *rapid.T) turn {
	switch rapid.SampledFrom([]string{"says", "says", "answers", "answers", "answers", "nothing", "appends"}).Draw(t, "turn") {
	case "answers":
		return turn{
			answers: rapid.SliceOfN(rapid.IntRange(0, 6), 1, 2).Draw(t, "answers"), fresh: true, deny: chance(t, 20, "deny"), payload: rapid.SampledFrom([]int{0, 0, 1, 40}).Draw(t, "payload"),
			stop: drawStop(t), say: rapid.SampledFrom([]string{"", "", "And one more thing."}).Draw(t, "more"),
		}
	case "nothing":
		return turn{nothing: true, stop: drawStop(t)}
	case "appends":
		return turn{author: rapid.SampledFrom([]string{"user", "agent0", "agent1", "stranger"}).Draw(t, "author"), text: rapid.SampledFrom([]string{"", "Imported."}).Draw(t, "text")}
	}
	return turn{say: "And then?", stop: drawStop(t)}
}

func drawStop(t *rapid.T) int {
	if chance(t, 15, "stops") {
		return rapid.IntRange(1, 6).Draw(t, "stop")
	}
	return 0
}

func drawApp(t *rapid.T) app {
	names := 0
	a := app{root: drawTree(t, 3, &names, chance(t, 30, "parallels"))}
	drawPlans(t, a.root)
	for range rapid.IntRange(2, 14).Draw(t, "turns") {
		a.turns = append(a.turns, drawTurn(t))
	}
	for i := range a.turns {
		if a.disordered() {
			a.turns[i].stop = 0
		}
	}
	a.changes, a.answers = chance(t, 20, "changes"), chance(t, 20, "answers")
	return a
}

func drawPolicy(t *rapid.T) policy {
	threshold, retain := rapid.SampledFrom([]int{150, 400, 1000}).Draw(t, "threshold"), rapid.IntRange(1, 6).Draw(t, "retain")
	turns, summaries := rapid.IntRange(0, 3).Draw(t, "theta"), rapid.IntRange(1, 4).Draw(t, "summaries")
	window := rapid.SampledFrom([]int{0, 0, 1_000, 2_000, 4_000}).Draw(t, "window")
	synchronous, byHand := chance(t, 75, "synchronous"), chance(t, 40, "by hand")
	return policy{
		layers: chance(t, 30, "layers") && window == 0, // in a small window, the layers may shorten what was said
		change: func(cfg *compaction.Config) {
			cfg.TokenThreshold, cfg.RetainEvents, cfg.InvocationThreshold, cfg.OverlapSize = threshold, retain, turns, 1
			cfg.MaxSummaries, cfg.Synchronous = summaries, synchronous
			if window > 0 {
				cfg.ContextWindow, cfg.TokenThreshold = window, 0
			}
			if turns == 0 {
				cfg.InvocationThreshold = compaction.Off
			}
		},
		between: func(t testing.TB, svc *compaction.CompactionSessionService, n int) {
			if byHand && n%2 == 1 {
				_, _ = svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 1})
			}
		},
	}
}

func drawStore(t testing.TB, r *rapid.T) storages.Storage {
	if chance(r, 10, "on disk") {
		return rapid.SampledFrom([]func(testing.TB) storages.Storage{storages.Database, storages.Persistence}).Draw(r, "store")(t)
	}
	return storages.InMemory()
}

// TestAWrappedAppDoesWhatItDoesBare plays generated apps bare and wrapped, with compaction in the middle of turns:
// trees of agents, transfers, workflows, agents as tools, calls that take long or need a confirmation and are answered
// in any order and age, artifacts, models that fail, consumers that break off, plugins of the app that change and
// answer, and events that the app appends. The same agents run the same tools as often, with the same errors, and the same events
// are stored.
func TestAWrappedAppDoesWhatItDoesBare(t *testing.T) {
	t.Parallel()
	summaries, apps := 0, 0
	testkit.CheckUntil(t, 3, func(r *rapid.T) {
		a, with := drawApp(r), drawPolicy(r)
		diff, n := a.differs(t, drawStore(t, r), with)
		if diff != "" {
			r.Fatalf("%s\n%s", a, diff)
		}
		summaries, apps = summaries+n, apps+1
	}, func() error {
		if summaries < apps {
			return fmt.Errorf("%d apps had %d summaries", apps, summaries)
		}
		return nil
	})
}
