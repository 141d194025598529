package integration_test

import (
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// improvised is an app whose actors decide by what they see instead of a plan, because after a turn
// that ended anywhere it is unknown which actor is called first.
type improvised struct {
	name      string
	unordered bool
	prepare   func(a *app) agent.Agent
}

var improvisations = []improvised{
	{name: "tools", prepare: func(a *app) agent.Agent {
		x := newActor(a, "assistant", "")
		x.improvise = func(req *model.LLMRequest) *model.LLMResponse {
			if n := len(a.tail(x, req)); n < 4 {
				return a.lookups(1 + n/2)
			}
			return answer()
		}
		return a.withLookup(x)
	}},
	{name: "transfers", prepare: func(a *app) agent.Agent {
		root, sub := newActor(a, "root", ""), newActor(a, "billing", "")
		root.improvise = func(req *model.LLMRequest) *model.LLMResponse {
			switch tail := a.tail(root, req); {
			case len(tail) == 0:
				return a.lookups(1)
			case strings.Contains(canonical(tail), "[billing]"):
				return answer()
			}
			return transfer("billing")
		}
		sub.improvise = func(req *model.LLMRequest) *model.LLMResponse {
			if tail := a.tail(sub, req); len(tail) > 0 && len(requests.Responses(tail[len(tail)-1])) > 0 {
				return transfer("root")
			}
			return a.lookups(1)
		}
		return a.withSubAgents(root, a.withLookup(sub))
	}},
	{name: "parallel branches", unordered: true, prepare: func(a *app) agent.Agent {
		left, right, writer := newActor(a, "left", "both.left"), newActor(a, "right", "both.right"), newActor(a, "writer", "")
		for _, x := range []*actor{left, right} {
			x.improvise = func(req *model.LLMRequest) *model.LLMResponse {
				if len(a.tail(x, req)) == 0 {
					return a.lookups(2)
				}
				return answer()
			}
		}
		writer.improvise = func(*model.LLMRequest) *model.LLMResponse { return answer() }
		return a.sequence("pipeline", a.parallel("both", a.withLookup(left), a.withLookup(right)), a.llm(writer, nil))
	}},
}

// waiting is an app whose turns start a long-running tool and then one that needs a confirmation.
// Neither is ever answered.
var waiting = improvised{name: "people", prepare: func(a *app) agent.Agent {
	x := newActor(a, "assistant", "")
	x.improvise = func(req *model.LLMRequest) *model.LLMResponse {
		switch n := len(a.tail(x, req)); {
		case n == 0:
			return a.lookups(2)
		case n < 4:
			return compactiontest.CallTool("order", map[string]any{"n": a.ledger.number()})
		case n < 6:
			return compactiontest.CallTool("danger", map[string]any{"n": a.ledger.number()})
		}
		return answer()
	}
	return a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup(), a.order(), a.danger(&runs{}, false)} })
}}

// tail returns the contents after the question in a request.
func (a *app) tail(x *actor, req *model.LLMRequest) []*genai.Content {
	return req.Contents[slices.IndexFunc(req.Contents, x.isQuestion)+1:]
}

// start creates the app, which compacts after every turn.
func (i improvised) start(a *app) {
	a.t.Helper()
	a.unordered, a.requests = i.unordered, true
	a.start(i.prepare(a))
	for _, x := range a.actors {
		improvise := x.improvise
		x.improvise = func(req *model.LLMRequest) *model.LLMResponse {
			if tail := a.tail(x, req); len(tail) > 20 {
				a.t.Errorf("turn %d does not end: %s", a.turns, canonical(tail))
				return answer()
			}
			return improvise(req)
		}
	}
	for range 4 {
		a.ask()
	}
}

// checkKept checks that all earlier events are still stored, and then asks twice. The actors check
// that they see everything in storage.
func (a *app) checkKept(before []stored) {
	a.t.Helper()
	for _, s := range before {
		if !slices.Contains(a.history, s) {
			a.t.Errorf("stored before, missing now: %v", s)
		}
	}
	a.ask()
	a.ask()
}
