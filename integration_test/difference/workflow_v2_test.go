//go:build ignore

package difference_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/genai"
	"pgregory.net/rapid"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/workflow"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/record"
)

func init() {
	more = func(ev *session.Event) string {
		path := ""
		if ev.NodeInfo != nil {
			path = fmt.Sprintf(" by %s for %v", ev.NodeInfo.Path, ev.NodeInfo.OutputFor)
		}
		return madeUp.ReplaceAllString(fmt.Sprintf(" in scope %q output %s routes %v requests %s", ev.IsolationScope, canonical(ev.Output), ev.Routes, canonical(ev.RequestedInput))+path, "#")
	}
}

// part is a piece of a workflow, entered at one node and left at another.
type part struct {
	kind, name string
	asks       int      // of a node that asks: how often, "ask" all at once
	once       bool     // it asks in the first run alone
	fixed      bool     // its requests have the same ID in each run
	schema     bool     // it takes strings alone
	plan       []step   // of an agent
	mode       string   // of an agent
	expert     bool     // an agent has another as a tool
	helper     []step   // an agent may transfer to another below it, which does this
	times      int      // the child of a dynamic node runs so often, 0 is once; so does a loop
	parts      []*part  // of a part that has parts
	options    []string // of the child of a dynamic node
}

func (x *part) String() string {
	return fmt.Sprintf("%s %s asks %d once %t fixed %t schema %t mode %q expert %t helper %+v times %d plan %+v options %v %v", x.kind, x.name, x.asks, x.once, x.fixed, x.schema, x.mode, x.expert, x.helper, x.times, x.plan, x.options, x.parts)
}

// flow is an app whose root is a workflow of parts, one behind the other.
func flow(turns []turn, parts ...*part) app {
	return app{turns: turns, make: func(p *player) agent.Agent { return p.workflow("flow", parts) }, shuffled: shuffles(parts)}
}

func shuffles(parts []*part) bool {
	for _, x := range parts {
		if x.kind == "fan" || shuffles(x.parts) {
			return true
		}
	}
	return false
}

// workflow builds an agent that is a workflow.
func (p *player) workflow(name string, parts []*part) agent.Agent {
	cfg := workflowagent.Config{Name: name, Description: "Plays " + name + ".", Edges: p.chain(workflow.Start, parts)}
	if p.changes { // ADK stores an event for that before the workflow reads where it was
		cfg.BeforeAgentCallbacks = []agent.BeforeAgentCallback{func(ctx agent.CallbackContext) (*genai.Content, error) { return nil, ctx.State().Set("turn", p.turn) }}
	}
	made, err := workflowagent.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

// chain returns the edges of parts, one behind the other.
func (p *player) chain(from workflow.Node, parts []*part) (edges []workflow.Edge) {
	for _, x := range parts {
		entry, exit, within := p.nodes(x)
		edges = append(append(edges, workflow.Edge{From: from, To: entry}), within...)
		from = exit
	}
	return edges
}

// nodes builds the nodes of a part.
func (p *player) nodes(x *part) (entry, exit workflow.Node, edges []workflow.Edge) {
	switch x.kind {
	case "fan": // two parts side by side, and a join
		split, join := p.node(&part{kind: "work", name: x.name + "-split"}), workflow.NewJoinNode(x.name+"-join")
		for _, side := range x.parts {
			in, out, within := p.nodes(side)
			edges = append(append(edges, workflow.Edge{From: split, To: in}, workflow.Edge{From: out, To: join}), within...)
		}
		return split, join, edges
	case "route": // of two parts, the first in every run but each third; the second is a dead end
		router := workflow.NewEmittingFunctionNode(x.name, func(ctx agent.Context, in any, emit func(*session.Event) error) (any, error) {
			ev := session.NewEvent(ctx, ctx.InvocationID())
			ev.Routes, ev.Output = []string{"first"}, in
			if p.invocation(ctx.InvocationID())%3 == 2 {
				ev.Routes = []string{"second"}
			}
			p.out.note("%s routes %s to %v", x.name, canonical(in), ev.Routes)
			return nil, emit(ev)
		}, workflow.NodeConfig{})
		in, out, edges := p.nodes(x.parts[0])
		other, _, more := p.nodes(x.parts[1])
		return router, out, append(append(edges, more...), workflow.Edge{From: router, To: in, Route: workflow.StringRoute("first")}, workflow.Edge{From: router, To: other, Route: workflow.StringRoute("second")})
	case "loop": // a part that runs three times, or as often as it says
		again := func(ctx agent.Context, in any, emit func(*session.Event) error) (any, error) {
			ev := session.NewEvent(ctx, ctx.InvocationID())
			ev.Routes, ev.Output = []string{"again"}, in
			if p.count(x.name)%max(x.times, 3) == 0 {
				ev.Routes = []string{"on"}
			}
			p.out.note("%s routes %s to %v", x.name, canonical(in), ev.Routes)
			return nil, emit(ev)
		}
		router, end := workflow.NewEmittingFunctionNode(x.name, again, workflow.NodeConfig{}), p.node(&part{kind: "work", name: x.name + "-end"})
		in, out, edges := p.nodes(x.parts[0])
		return in, end, append(edges, workflow.Edge{From: out, To: router}, workflow.Edge{From: router, To: in, Route: workflow.StringRoute("again")}, workflow.Edge{From: router, To: end, Route: workflow.StringRoute("on")})
	case "tool": // arguments, and a tool
		in := workflow.NewFunctionNode(x.name+"-args", func(_ agent.Context, in any) (map[string]any, error) { return map[string]any{"n": canonical(in)}, nil }, workflow.NodeConfig{})
		made, err := functiontool.New(functiontool.Config{Name: x.name, Description: "Looks up."}, func(ctx agent.Context, in args) (result, error) {
			k := p.count(x.name)
			p.out.note("tool %s runs on %s", x.name, in.N)
			return result{fmt.Sprintf("%s has run.%s", x.name, p.fact("tool %s %d", x.name, k)) + strings.Repeat(" All is as expected.", 100*(k%2))}, nil
		})
		if err != nil {
			p.t.Fatal(err)
		}
		node, err := workflow.NewToolNode(made, workflow.NodeConfig{})
		if err != nil {
			p.t.Fatal(err)
		}
		return in, node, []workflow.Edge{{From: in, To: node}}
	case "many": // a list, and a worker for each of its items
		list := workflow.NewFunctionNode(x.name+"-list", func(agent.Context, any) ([]any, error) { return []any{"a", "b", "c"}, nil }, workflow.NodeConfig{})
		worker, err := workflow.NewParallelWorker(x.name, p.node(x.parts[0]), 1, workflow.NodeConfig{})
		if err != nil {
			p.t.Fatal(err)
		}
		return list, worker, []workflow.Edge{{From: list, To: worker}}
	}
	n := p.node(x)
	return n, n, nil
}

func (p *player) agentNode(a agent.Agent) workflow.Node {
	made, err := workflow.NewAgentNode(a, workflow.NodeConfig{})
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

// sequence builds an agent that runs others one after the other.
func (p *player) sequence(name string, agents ...agent.Agent) agent.Agent {
	made, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: name, Description: "Plays " + name + ".", SubAgents: agents}})
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

// count returns how often it was called for a name.
func (p *player) count(name string) int {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.counts == nil {
		p.counts = map[string]int{}
	}
	p.counts[name]++
	return p.counts[name]
}

// node builds the node of a part that is only one.
func (p *player) node(x *part) workflow.Node {
	rerun := true
	switch x.kind {
	case "ask": // hands the answer on
		return workflow.NewEmittingFunctionNode(x.name, func(ctx agent.Context, in any, emit func(*session.Event) error) (any, error) {
			if x.once && p.invocation(ctx.InvocationID()) > 0 {
				return "nothing to ask", nil
			}
			p.out.note("node %s asks, given %s", x.name, canonical(in))
			for i := range max(x.asks, 1) {
				if err := emit(workflow.NewRequestInputEvent(ctx, p.request(ctx, x, i))); err != nil {
					return nil, err
				}
			}
			return nil, workflow.ErrNodeInterrupted
		}, workflow.NodeConfig{})
	case "ask again": // runs again with each answer
		return workflow.NewEmittingFunctionNode(x.name, func(ctx agent.Context, in any, emit func(*session.Event) error) (any, error) {
			if x.once && p.invocation(ctx.InvocationID()) > 0 {
				return "nothing to ask", nil
			}
			p.out.note("node %s runs on %s, and asks", x.name, canonical(in))
			var replies []string
			for i := range max(x.asks, 1) {
				reply, err := workflow.ResumeOrRequestInput(ctx, emit, p.request(ctx, x, i))
				if err != nil {
					return nil, err
				}
				replies = append(replies, canonical(reply))
			}
			p.out.note("node %s has %v", x.name, replies)
			return strings.Join(replies, ", "), nil
		}, workflow.NodeConfig{RerunOnResume: &rerun})
	case "late": // has an output in every second run alone, and what follows waits for it
		wait := true
		return workflow.NewFunctionNode(x.name, func(_ agent.Context, in any) (any, error) {
			k := p.count(x.name)
			p.out.note("node %s runs on %s", x.name, canonical(in))
			if k%2 == 1 {
				return nil, nil
			}
			return fmt.Sprintf("%s has run.%s", x.name, p.fact("node %s %d", x.name, k)), nil
		}, workflow.NodeConfig{WaitForOutput: &wait})
	case "agent":
		n := &node{name: x.name, kind: llm, mode: x.mode, plan: x.plan, expert: x.expert}
		if x.helper != nil {
			n.children = []*node{{name: x.name + "-helper", kind: llm, plan: x.helper}}
		}
		return p.agentNode(p.agent(n, nil))
	case "sequence": // of two agents
		return p.agentNode(p.sequence(x.name, p.agent(&node{name: x.name + "-1", kind: llm, plan: x.plan}, nil), p.agent(&node{name: x.name + "-2", kind: llm, plan: x.plan}, nil)))
	case "flow": // an agent that is a workflow
		return p.agentNode(p.workflow(x.name, x.parts))
	case "tells": // events of its own, one of which ADK takes for the user's
		return workflow.NewEmittingFunctionNode(x.name, func(ctx agent.Context, in any, emit func(*session.Event) error) (any, error) {
			k := p.count(x.name)
			p.out.note("node %s tells, given %s", x.name, canonical(in))
			for _, role := range []genai.Role{genai.RoleModel, genai.RoleUser} {
				ev := session.NewEvent(ctx, ctx.InvocationID())
				ev.Content = genai.NewContentFromText(fmt.Sprintf("%s tells as %s.%s", x.name, role, p.fact("%s tells as %s %d", x.name, role, k)), role)
				if err := emit(ev); err != nil {
					return nil, err
				}
			}
			return x.name + " has told", nil
		}, workflow.NodeConfig{})
	case "nested":
		made, err := workflow.NewWorkflowNode(x.name, p.chain(workflow.Start, x.parts))
		if err != nil {
			p.t.Fatal(err)
		}
		return made
	case "dynamic":
		return p.dynamic(x)
	}
	cfg := workflow.NodeConfig{}
	if x.kind == "flaky" {
		cfg.RetryConfig = &workflow.RetryConfig{MaxAttempts: 3, InitialDelay: time.Millisecond}
	}
	return workflow.NewFunctionNode(x.name, func(ctx agent.Context, in any) (any, error) {
		k := p.count(x.name)
		p.out.note("node %s runs on %s", x.name, canonical(in))
		if x.kind == "flaky" && k%2 == 1 || x.kind == "fails" && k%2 == 0 {
			return nil, errors.New("out of order")
		}
		return fmt.Sprintf("%s has run.%s", x.name, p.fact("node %s %d", x.name, k)), nil
	}, cfg)
}

// request is what a node asks the user.
func (p *player) request(ctx agent.Context, x *part, i int) session.RequestInput {
	req := session.RequestInput{InterruptID: fmt.Sprintf("ask-%s-%d", x.name, i), Message: "What now?", Payload: map[string]any{"of": x.name}}
	if !x.fixed {
		req.InterruptID += fmt.Sprintf("-of-run-%d", p.invocation(ctx.InvocationID()))
	}
	if x.schema {
		req.ResponseSchema = &jsonschema.Schema{Type: "string"}
	}
	return req
}

// dynamic builds a node that runs its parts as its children.
func (p *player) dynamic(x *part) workflow.Node {
	children := make([]workflow.Node, len(x.parts))
	for i, child := range x.parts {
		children[i] = p.node(child)
	}
	return workflow.NewDynamicNode(x.name, func(ctx agent.Context, in any, _ func(*session.Event) error) (any, error) {
		p.out.note("node %s begins with %s", x.name, canonical(in))
		out := in
		for i, child := range children {
			var options []workflow.RunNodeOption
			for _, name := range x.parts[i].options {
				options = append(options, map[string]workflow.RunNodeOption{
					"id": workflow.WithRunID("run-of-" + x.parts[i].name), "branch": workflow.WithUseSubBranch(), "scope": workflow.WithIsolationScope("scope-of-" + x.parts[i].name),
					"path": workflow.WithIsolationScopeFromNodePath(), "output": workflow.WithUseAsOutput(), "raise": workflow.WithRaiseOnWait(),
				}[name])
			}
			for range max(x.parts[i].times, 1) {
				given, err := workflow.RunNode[any](ctx, child, out, options...)
				if err != nil {
					p.out.note("node %s stops at %s: %v", x.name, x.parts[i].name, madeUp.ReplaceAllString(err.Error(), "#"))
					return nil, err
				}
				out = given
			}
		}
		p.out.note("node %s ends with %s", x.name, canonical(out))
		return out, nil
	}, workflow.NodeConfig{})
}

// team is an app of an llm with the agents below it. Those of flows are workflows of these parts, the others have modes.
func team(root *node, flows map[string][]*part, turns []turn) app {
	return app{root: root, turns: turns, make: func(p *player) agent.Agent { return p.agent(root, flows) }}
}

// agent builds an agent of a team.
func (p *player) agent(n *node, flows map[string][]*part) agent.Agent {
	if parts := flows[n.name]; parts != nil {
		return p.workflow(n.name, parts)
	}
	var below []agent.Agent
	for _, child := range n.children {
		below = append(below, p.agent(child, flows))
	}
	cfg := llmagent.Config{
		Name: n.name, Description: "Plays " + n.name + ".", SubAgents: below, Model: p.model(n), Tools: p.tools(n), Mode: llmagent.Mode(n.mode),
		DisallowTransferToParent: n.noParent, DisallowTransferToPeers: n.noPeers,
	}
	// One that gives no result before the user does.
	wait, err := functiontool.New(functiontool.Config{Name: "wait", Description: "Waits.", IsLongRunning: true}, func(ctx agent.Context, in args) (map[string]any, error) {
		p.out.note("%s runs wait(%s), given %s", ctx.AgentName(), in.N, canonical(ctx.UserContent()))
		return nil, nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	cfg.Tools = append(cfg.Tools, wait)
	made, err := llmagent.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

// names gives names to the parts of an app.
type names int

func (n *names) next() string { *n++; return fmt.Sprintf("n%d", *n) }

func drawPart(t *rapid.T, name *names, depth int, fans bool) *part {
	kinds := []string{"work", "ask", "ask again", "agent", "agent", "sequence", "tells", "tool", "fails", "late", "dynamic", "dynamic", "flaky", "many", "route", "loop", "nested", "flow"}
	if fans {
		kinds = append(kinds, "fan", "fan")
	}
	if depth == 0 {
		kinds = kinds[:10]
	}
	x := &part{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), name: name.next()}
	drawSettings(t, x)
	below := 0
	switch x.kind {
	case "many":
		x.parts = []*part{{kind: rapid.SampledFrom([]string{"work", "agent"}).Draw(t, "worker"), name: name.next()}}
		drawSettings(t, x.parts[0])
	case "loop":
		below = 1
	case "route", "fan":
		below = 2
	case "nested", "flow":
		below = rapid.IntRange(1, 2).Draw(t, "parts")
	case "dynamic":
		below = rapid.IntRange(1, 3).Draw(t, "children")
	}
	for i := range below {
		next := drawPart(t, name, depth-1, false)
		if x.kind == "dynamic" {
			for slices.Contains([]string{"ask", "route", "loop", "tool", "many"}, next.kind) {
				next.kind, next.parts = "ask again", nil
			}
			for _, option := range []string{"id", "branch", "scope", "path", "raise"} {
				if chance(t, 25, option) {
					next.options = append(next.options, option)
				}
			}
			if i == below-1 && chance(t, 30, "output") {
				next.options = append(next.options, "output")
			}
			if chance(t, 25, "again") {
				next.times = rapid.IntRange(2, 4).Draw(t, "times")
			}
			if next.kind == "agent" && chance(t, 40, "task") {
				next.mode, next.plan = "task", drawMemberPlan(t, nil, "task")
				next.options = append(next.options, "scope", "raise")
			}
		}
		x.parts = append(x.parts, next)
	}
	return x
}

func drawSettings(t *rapid.T, x *part) {
	x.asks, x.once, x.fixed, x.schema = rapid.IntRange(1, 2).Draw(t, "asks"), chance(t, 40, "once"), chance(t, 10, "fixed"), chance(t, 20, "schema")
	if x.kind == "agent" || x.kind == "sequence" {
		x.plan, x.expert = drawMemberPlan(t, nil, ""), chance(t, 40, "expert")
	}
	if x.kind == "agent" && chance(t, 30, "helper") {
		x.plan, x.helper = drawMemberPlan(t, []string{"transfer:" + x.name + "-helper"}, ""), drawMemberPlan(t, nil, "")
	}
}

// drawMemberPlan draws what an agent does that may delegate to others. The model of a task does not fail: the first task of
// an agent is given up if it has written nothing, see TestATaskIsGoneOnWithAfterAFailure for the others.
func drawMemberPlan(t *rapid.T, to []string, mode string) (plan []step) {
	kinds := []string{"says", "calls", "calls"}
	if len(to) > 0 {
		kinds = append(kinds, "delegates", "delegates", "delegates")
	}
	if mode == "task" {
		kinds = append(kinds, "finishes", "finishes")
	}
	for range rapid.IntRange(1, 14).Draw(t, "steps") {
		switch rapid.SampledFrom(kinds).Draw(t, "step") {
		case "calls":
			plan = append(plan, step{calls: rapid.SliceOfN(rapid.SampledFrom([]string{"lookup", "lookup", "file", "order", "refund", "wait", "export", "expert"}), 1, 2).Draw(t, "calls")})
		case "delegates":
			plan = append(plan, step{calls: []string{rapid.SampledFrom(to).Draw(t, "to")}, words: rapid.SampledFrom([]int{0, 0, 0, 700}).Draw(t, "words")})
		case "finishes":
			plan = append(plan, calls("finish"))
		default:
			plan = append(plan, step{words: rapid.SampledFrom([]int{3, 10, 30, 100, 100, 700}).Draw(t, "words"), fail: mode != "task" && chance(t, 10, "fails")})
		}
	}
	return plan
}

func drawFlow(t *rapid.T) (app, string) {
	var name names
	var parts []*part
	fans := chance(t, 30, "fans")
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		parts = append(parts, drawPart(t, &name, 2, fans))
	}
	a := flow(drawTurns(t), parts...)
	a.changes = chance(t, 15, "changes")
	return a, fmt.Sprint("changes ", a.changes, parts)
}

func drawTeam(t *rapid.T) (app, string) {
	var name names
	root := &node{name: "root", kind: llm}
	var to []string
	flows := map[string][]*part{}
	described := ""
	for range rapid.IntRange(1, 3).Draw(t, "members") {
		member := &node{name: name.next(), kind: llm, mode: rapid.SampledFrom([]string{"task", "task", "single_turn", "chat", "workflow"}).Draw(t, "mode")}
		switch member.mode {
		case "workflow":
			member.mode = ""
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				flows[member.name] = append(flows[member.name], drawPart(t, &name, 1, false))
			}
			to = append(to, "transfer:"+member.name)
			described += fmt.Sprint(member.name, flows[member.name], "\n")
		case "chat":
			to = append(to, "transfer:"+member.name)
			member.plan = drawMemberPlan(t, []string{"transfer:root"}, "chat")
		default:
			to = append(to, "delegate:"+member.name)
			member.plan = drawMemberPlan(t, nil, member.mode)
		}
		root.children = append(root.children, member)
		described += fmt.Sprintln(member.name, member.mode)
	}
	root.plan = drawMemberPlan(t, to, "chat")
	return team(root, flows, drawTurns(t)), described
}

// drawTurns draws what the user does. The consumer never breaks off: whether a tool still begins then is up to ADK's
// scheduler, bare and wrapped.
func drawTurns(t *rapid.T) (turns []turn) {
	for range rapid.IntRange(3, 14).Draw(t, "turns") {
		next := turn{say: "And then?"}
		if chance(t, 50, "answers") {
			next = turn{answers: rapid.SliceOfN(rapid.IntRange(0, 6), 1, 3).Draw(t, "which"), fresh: true, deny: chance(t, 15, "deny"), payload: rapid.SampledFrom([]int{0, 0, 1, 40, 200}).Draw(t, "payload")}
			if chance(t, 15, "and says") {
				next.say = "And one more thing."
			}
		}
		if next.say != "" && chance(t, 10, "at length") {
			next.say = strings.Repeat("A line of the plan. ", 200)
		}
		turns = append(turns, next)
	}
	return turns
}

// drawEager draws a policy that compacts soon. In a small window, what was said may be shown shortened.
func drawEager(t *rapid.T) policy {
	threshold, retain := rapid.SampledFrom([]int{150, 400, 1000}).Draw(t, "threshold"), rapid.IntRange(1, 6).Draw(t, "retain")
	turns, summaries := rapid.SampledFrom([]int{1, 1, 2, compaction.Off}).Draw(t, "theta"), rapid.IntRange(1, 4).Draw(t, "summaries")
	byHand := chance(t, 40, "by hand")
	window := rapid.SampledFrom([]int{0, 0, 1_000, 2_000, 4_000}).Draw(t, "window")
	return policy{
		layers: chance(t, 50, "layers") && window == 0, shortens: window > 0, restarts: chance(t, 20, "restarts"),
		change: func(cfg *compaction.Config) {
			cfg.TokenThreshold, cfg.RetainEvents, cfg.InvocationThreshold, cfg.OverlapSize, cfg.MaxSummaries = threshold, retain, turns, 1, summaries
			if window > 0 {
				cfg.ContextWindow, cfg.TokenThreshold = window, 0
			}
		},
		between: func(t testing.TB, svc *compaction.CompactionSessionService, n int) {
			if byHand && n%2 == 1 {
				_, _ = svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 1})
			}
		},
	}
}

// TestAWrappedWorkflowDoesWhatItDoesBare plays generated workflows, and teams of agents that delegate tasks, bare and
// wrapped: routes, joins, workers, retries, dynamic nodes with and without scopes and IDs of their own, input that is
// requested and given in any order, turns later or never, nodes that are waited for, transfers below a node, tasks of many turns, confirmations. The same nodes, agents and
// tools run as often on the same inputs, with the same errors; the same events are stored; and no request lacks what was
// said.
func TestAWrappedWorkflowDoesWhatItDoesBare(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name string
		draw func(*rapid.T) (app, string)
	}{{"workflows", drawFlow}, {"teams", drawTeam}} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			apps, over := 0, 0
			testkit.CheckUntil(t, 3, func(r *rapid.T) {
				a, described := of.draw(r)
				with := drawEager(r)
				diff, events := a.compare(t, drawStore(t, r), with)
				if diff != "" {
					r.Fatalf("%s\n%s\n%s", described, a, diff)
				}
				apps, over = apps+1, over+summarizedPauses(events)
			}, func() error {
				if over < apps/10 {
					return fmt.Errorf("in %d apps, %d pauses had a summary between the call and its answer", apps, over)
				}
				return nil
			})
		})
	}
}

// summarizedPauses counts the calls that waited while a summary was stored, and then were answered.
func summarizedPauses(events []*session.Event) (n int) {
	asked := map[string]int{} // by ID: how many summaries there were
	summaries := 0
	for _, ev := range events {
		if record.Is(ev) {
			summaries++
			continue
		}
		for _, id := range ev.LongRunningToolIDs {
			asked[id] = summaries
		}
		for _, id := range adk.ResponseIDs(ev) {
			if before, ok := asked[id]; ok && ev.Author == "user" && before < summaries {
				n++
			}
		}
	}
	return n
}
