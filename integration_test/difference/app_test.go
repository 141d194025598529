package difference_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/remoteagent/v2"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/artifact"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/server/adka2a/v2"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/record"
)

// kind is the type of an agent.
type kind string

const (
	llm        kind = "llm"
	sequential kind = "sequential"
	parallel   kind = "parallel"
	loop       kind = "loop"
	remote     kind = "remote" // an llm behind a server of its own, over loopback
)

// node is an agent of an app, with the agents below it.
type node struct {
	name     string
	kind     kind
	children []*node
	// The settings of an llm: may it transfer to its parent and its peers, does it read the history, and
	// is an expert among its tools.
	noParent, noPeers, none, expert bool
	// mode is how an llm is delegated to: only ADK v2 has modes.
	//lint:ignore U1000 the tests for ADK v2 use it
	mode string
	// plan is what the model of an llm does, one step for each of its calls. Beyond it the model speaks.
	plan []step
}

// step is one answer of a model.
type step struct {
	fail  bool
	calls []string // names of tools; "transfer:NAME" is a transfer
	words int      // of a text, if there are no calls
}

// turn is one thing that an app does with its session.
type turn struct {
	say     string
	nothing bool  // a run without a message
	answers []int // of the calls that may wait, counted from the newest: those that this message answers
	fresh   bool  // count only calls that no message has answered
	deny    bool  // confirm nothing
	payload int   // repetitions of a sentence in the payload of a confirmation
	stop    int   // the consumer breaks off after so many events; 0 is never
	// The app appends an event of its own: of this author, "" is none, with this text or with state alone.
	author, text string
}

// app is a generated application with a conversation.
type app struct {
	root  *node
	turns []turn
	// changes makes a plugin of the app rewrite every message of the user, and answers makes it answer every second
	// call of lookup in the place of the tool.
	changes, answers bool
	// recalls gives every agent a tool of the app's own that is named recall.
	recalls bool
	// make builds the root agent, if not nil, in the place of root. Such an app mentions a fact in every message, and
	// no request may lack one. shuffled means that its nodes run side by side.
	make     func(p *player) agent.Agent
	shuffled bool
}

// each calls f for every agent of the app, parents first.
func (n *node) each(f func(*node)) {
	f(n)
	for _, child := range n.children {
		child.each(f)
	}
}

func (a app) disordered() bool {
	if a.make != nil {
		return a.shuffled
	}
	return a.has(parallel) || a.has(remote) || adk.Major == 2 && a.breaksOff() // whether a tool still begins then is up to the scheduler
}

// has reports whether some agent is of a kind.
func (a app) has(of kind) (found bool) {
	a.root.each(func(n *node) { found = found || n.kind == of })
	return found
}

// breaksOff reports whether the consumer of some turn does.
func (a app) breaksOff() bool {
	return slices.ContainsFunc(a.turns, func(t turn) bool { return t.stop > 0 })
}

// played is what happened in a conversation.
type played struct {
	mu     sync.Mutex
	lines  []string // what models, tools, errors and consumers saw, in order
	stored []string // the events of the session, without records
	// requests are the contents of each request, by the agent and the number of its request.
	requests map[string]string
}

func (p *played) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// keep notes what a request holds.
func (p *played) keep(of string, req *model.LLMRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[of] = canonical(req.Contents) + canonical(req.Config.SystemInstruction)
}

// player plays an app over one session service.
type player struct {
	app
	t     testing.TB
	inner session.Service // what is stored
	svc   session.Service // what the runner talks to
	// between is called after each turn, if not nil.
	between func(n int)
	out     *played
	// stack are the layers, if any.
	stack *longsession.Stack
	// runs numbers the invocations, in the order in which they began.
	runs    map[string]int
	numbers sync.Mutex
	// answered are the calls that a message has answered.
	answered map[string]bool
	servers  []*httptest.Server
	// turn is the number of the turn, counts are how often nodes of a workflow ran.
	turn int
	//lint:ignore U1000 the tests for ADK v2 use it
	counts map[string]int
}

const (
	appName, userID, sessionID = "app", "user", "session"
)

// madeUp matches what ADK makes up, and the tools that it lists in any order.
var madeUp = regexp.MustCompile(`Available tools: [^\\]*|adk-[0-9a-f]{8}-[0-9a-f-]{27}|e-[0-9a-f-]{36}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// play plays an app over a service, and returns what happened.
func (a app) play(t testing.TB, inner, svc session.Service, between func(n int)) *played {
	return a.playIn(t, nil, inner, svc, between)
}

// playIn plays an app over a service, in layers unless stack is nil.
func (a app) playIn(t testing.TB, stack *longsession.Stack, inner, svc session.Service, between func(n int)) *played {
	p := &player{app: a, t: t, stack: stack, inner: inner, svc: svc, between: between, out: &played{requests: map[string]string{}}, runs: map[string]int{}, answered: map[string]bool{}}
	if _, err := svc.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: sessionID}); err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: appName, Agent: p.rootAgent(), SessionService: svc, ArtifactService: artifact.InMemoryService(), PluginConfig: p.plugins()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, server := range p.servers {
			server.Close()
		}
	}()
	for n, turn := range a.turns {
		p.out.note("turn %d", n)
		p.turn = n
		if turn.author != "" {
			p.append(n, turn)
		} else {
			p.run(r, turn)
		}
		if between != nil {
			between(n)
		}
	}
	for _, ev := range p.events() {
		p.out.stored = append(p.out.stored, fmt.Sprintf("run %d: %s", p.invocation(ev.InvocationID), text(ev)))
	}
	for i, line := range p.out.lines { // tools that were called together run in any order
		for j := i; j > 0 && isRun(line) && isRun(p.out.lines[j-1]) && p.out.lines[j] < p.out.lines[j-1]; j-- {
			p.out.lines[j-1], p.out.lines[j] = p.out.lines[j], p.out.lines[j-1]
		}
	}
	if a.disordered() {
		slices.Sort(p.out.lines)
		slices.Sort(p.out.stored)
	}
	return p.out
}

// isToolRun reports whether a line is the run of a tool, and not of a node of a workflow.
func isToolRun(line string) bool {
	who, what, runs := strings.Cut(line, " runs ")
	return runs && !strings.Contains(who, " ") && strings.Contains(what, "(")
}

func isRun(line string) bool {
	return strings.Contains(line, " runs ") || strings.Contains(line, "asks expert_of_")
}

func (p *player) rootAgent() agent.Agent {
	if p.make != nil {
		return p.make(p)
	}
	return p.build(p.root)
}

// invocation returns the number of an invocation.
func (p *player) invocation(id string) int {
	p.numbers.Lock()
	defer p.numbers.Unlock()
	if _, ok := p.runs[id]; !ok {
		for _, ev := range p.events() {
			if _, ok := p.runs[ev.InvocationID]; !ok {
				p.runs[ev.InvocationID] = len(p.runs)
			}
		}
	}
	return p.runs[id]
}

// fact returns a fact token for a text of the app, "" unless it mentions facts.
func (p *player) fact(format string, args ...any) string {
	if p.make == nil {
		return ""
	}
	return " " + compactiontest.Fact(int(crc32.ChecksumIEEE(fmt.Appendf(nil, format, args...))%100_000))
}

// events are the stored events of the session without records.
func (p *player) events() []*session.Event {
	return slices.DeleteFunc(stored(p.t, p.inner), record.Is)
}

// stored are all events of the session.
func stored(t testing.TB, inner session.Service) []*session.Event {
	resp, err := inner.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: sessionID})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(resp.Session.Events().All())
}

// run is a turn.
func (p *player) run(r *runner.Runner, turn turn) {
	defer func() {
		if err := recover(); err != nil {
			p.out.note("panic: %v", err)
		}
	}()
	n := 0
	for ev, err := range r.Run(p.t.Context(), userID, sessionID, p.message(turn), agent.RunConfig{}) {
		if err != nil {
			p.out.note("error: %s", madeUp.ReplaceAllString(err.Error(), "#"))
		} else {
			p.out.note("yields %s", text(ev))
		}
		if n++; n == turn.stop {
			p.out.note("breaks off")
			return
		}
	}
}

// append is an event of the app's own.
func (p *player) append(n int, turn turn) {
	resp, err := p.svc.Get(p.t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: sessionID})
	if err != nil {
		p.t.Fatal(err)
	}
	ev := session.NewEventWithContext(p.t.Context(), fmt.Sprintf("imported-%d", n))
	ev.Author = turn.author
	ev.Actions.StateDelta = map[string]any{"imported": n}
	if turn.text != "" {
		role := genai.Role(genai.RoleModel)
		if turn.author == "user" {
			role = genai.RoleUser
		}
		ev.Content = genai.NewContentFromText(turn.text, role)
	}
	if err := p.svc.AppendEvent(p.t.Context(), resp.Session, ev); err != nil {
		p.out.note("append: %v", err)
	}
}

// waiting are the calls of the session that a message may answer, the newest last.
func (p *player) waiting(fresh bool) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	for _, ev := range p.events() {
		for _, call := range adk.FunctionCalls(ev) {
			if slices.Contains(ev.LongRunningToolIDs, call.ID) && !(fresh && p.answered[call.ID]) {
				out = append(out, call)
			}
		}
	}
	if p.disordered() {
		slices.SortStableFunc(out, func(a, b *genai.FunctionCall) int { return cmp.Compare(canonical(a), canonical(b)) })
	}
	return out
}

// message is the message of a turn.
func (p *player) message(turn turn) *genai.Content {
	if turn.nothing {
		return nil
	}
	content := &genai.Content{Role: genai.RoleUser}
	calls := p.waiting(turn.fresh)
	used := map[string]bool{}
	for _, n := range turn.answers {
		if len(calls) == 0 {
			break
		}
		call := calls[len(calls)-1-n%len(calls)]
		if used[call.ID] || len(used) > 0 && p.breaksOff() {
			// A call that a consumer has cut off has a stand-in, which bare ADK lacks: it sends a prompt that
			// providers refuse. For an answer to two calls at once, ADK itself refuses the one with the stand-in.
			continue
		}
		used[call.ID], p.answered[call.ID] = true, true
		response := map[string]any{"status": "done", "n": float64(n)}
		if call.Name == toolconfirmation.FunctionCallName {
			response = map[string]any{"confirmed": !turn.deny}
			if turn.payload > 0 {
				response["payload"] = map[string]any{"text": strings.Repeat("The address has changed to Bremen. ", turn.payload)}
			}
		} else if turn.payload > 0 {
			response["text"] = strings.Repeat("The address has changed to Bremen. ", turn.payload)
		}
		if call.Name == "adk_request_input" {
			response = map[string]any{"response": fmt.Sprintf("answer %d%s%s", n, p.fact("answer %d", p.turn), strings.Repeat(" to Bremen", turn.payload))}
			if turn.deny {
				response = map[string]any{"response": n}
			}
		}
		p.out.note("answers %s", canonical(call))
		content.Parts = append(content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: response}})
	}
	if len(content.Parts) == 0 || turn.say != "" {
		content.Parts = append(content.Parts, &genai.Part{Text: "Please go on. " + turn.say + p.fact("turn %d", p.turn)})
	}
	return content
}

// build makes the agents.
func (p *player) build(n *node) agent.Agent {
	var below []agent.Agent
	for _, child := range n.children {
		below = append(below, p.build(child))
	}
	base := agent.Config{Name: n.name, Description: "Plays " + n.name + ".", SubAgents: below}
	var made agent.Agent
	var err error
	switch n.kind {
	case sequential:
		made, err = sequentialagent.New(sequentialagent.Config{AgentConfig: base})
	case parallel:
		made, err = parallelagent.New(parallelagent.Config{AgentConfig: base})
	case loop:
		made, err = loopagent.New(loopagent.Config{AgentConfig: base, MaxIterations: 2})
	case remote:
		made, err = p.remote(n)
	default:
		cfg := llmagent.Config{
			Name: n.name, Description: base.Description, SubAgents: below, Model: p.model(n), Tools: p.tools(n),
			DisallowTransferToParent: n.noParent, DisallowTransferToPeers: n.noPeers,
		}
		if n.none {
			cfg.IncludeContents = llmagent.IncludeContentsNone
		}
		made, err = llmagent.New(cfg)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return made
}

// remote starts the server of an agent, which keeps its own sessions, and returns the agent as its clients see it.
func (p *player) remote(n *node) (agent.Agent, error) {
	far, err := llmagent.New(llmagent.Config{Name: n.name, Model: &script{p: p, node: n}, Tools: p.tools(n)})
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(adka2a.NewExecutor(adka2a.ExecutorConfig{
		RunnerConfig: runner.Config{AppName: n.name, Agent: far, SessionService: session.InMemoryService(), ArtifactService: artifact.InMemoryService()},
	}))))
	p.servers = append(p.servers, server)
	return remoteagent.NewA2A(remoteagent.A2AConfig{Name: n.name, Description: "Is far away.", AgentCard: &a2a.AgentCard{
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(server.URL, a2a.TransportProtocolJSONRPC)},
		Capabilities:        a2a.AgentCapabilities{Streaming: true},
	}})
}

type args struct {
	N string `json:"n"`
}

type result struct {
	Result string `json:"result"`
}

// file keeps an artifact, and reads it back.
func file(ctx agent.ToolContext, name string) (string, error) {
	saved, err := ctx.Artifacts().Save(ctx, name, genai.NewPartFromText("The file "+name))
	if err != nil {
		return "", err
	}
	loaded, err := ctx.Artifacts().Load(ctx, name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, version %d", loaded.Part.Text, saved.Version), nil
}

// tools are the tools of an agent: an ordinary one, one that keeps a file, one that takes long, one that needs a
// confirmation, one with a large result, and perhaps an agent.
func (p *player) tools(n *node) []tool.Tool {
	var out []tool.Tool
	all := []functiontool.Config{
		{Name: "lookup", Description: "Looks something up."},
		{Name: "file", Description: "Files something."},
		{Name: "order", Description: "Orders something.", IsLongRunning: true},
		{Name: "refund", Description: "Pays money back.", RequireConfirmation: true},
		{Name: "export", Description: "Exports all that there is."},
	}
	if p.recalls {
		all = append(all, functiontool.Config{Name: "recall", Description: "Reads the memo of the shop."})
	}
	for _, cfg := range all {
		made, err := functiontool.New(cfg, func(ctx agent.ToolContext, in args) (result, error) {
			p.out.note("%s runs %s(%s) in %q, confirmed %s", ctx.AgentName(), cfg.Name, in.N, ctx.Branch(), canonical(ctx.ToolConfirmation()))
			if cfg.Name == "file" {
				kept, err := file(ctx, in.N)
				return result{kept}, err
			}
			if cfg.Name == "export" {
				return result{strings.Repeat("Line of "+in.N+". ", 400)}, nil
			}
			return result{strings.Repeat("The result of "+in.N+" is as expected. ", 12)}, nil
		})
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, made)
	}
	if n.expert {
		expert, err := llmagent.New(llmagent.Config{Name: "expert_of_" + n.name, Description: "Knows.", Model: p.model(&node{name: "expert_of_" + n.name})})
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, agenttool.New(expert, nil))
	}
	return out
}

// plugins are the plugins of the app.
func (p *player) plugins() runner.PluginConfig {
	cfg := plugin.Config{Name: "app"}
	if p.changes {
		cfg.OnUserMessageCallback = func(_ agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
			other := &genai.Content{Role: msg.Role, Parts: append(slices.Clone(msg.Parts), &genai.Part{Text: "(changed)"})}
			return other, nil
		}
	}
	if p.answers {
		cfg.BeforeToolCallback = func(_ agent.ToolContext, called tool.Tool, in map[string]any) (map[string]any, error) {
			if called.Name() == "lookup" && strings.HasSuffix(fmt.Sprint(in["n"]), "-1") {
				return map[string]any{"result": "by the plugin"}, nil
			}
			return nil, nil
		}
	}
	made, err := plugin.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.stack != nil {
		return p.stack.PluginConfig(made)
	}
	return runner.PluginConfig{Plugins: []*plugin.Plugin{made}}
}

// script is the model of an agent. What it answers depends on how often it was called, and on nothing else: the
// prompts of two plays differ.
type script struct {
	p     *player
	node  *node
	mu    sync.Mutex
	calls int
}

// model returns the model of an agent, in the layers.
func (p *player) model(n *node) model.LLM {
	m := &script{p: p, node: n}
	if p.stack != nil {
		return p.stack.Model(m)
	}
	return m
}

func (m *script) Name() string { return "model-of-" + m.node.name }

func (m *script) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.mu.Lock()
		k := m.calls
		m.calls++
		m.mu.Unlock()
		m.p.out.note("asks %s for the %dth time", m.node.name, k)
		m.p.out.keep(fmt.Sprintf("%s, request %d", m.node.name, k), req)
		next := step{words: 20}
		if k < len(m.node.plan) {
			next = m.node.plan[k]
		}
		if next.fail {
			yield(nil, errors.New("503: the model is overloaded"))
			return
		}
		content := &genai.Content{Role: genai.RoleModel}
		for i, name := range next.calls {
			call := &genai.FunctionCall{Name: name, Args: map[string]any{"n": fmt.Sprintf("%s-%d-%d", m.node.name, k, i)}}
			if to, transfers := strings.CutPrefix(name, "transfer:"); transfers {
				call = &genai.FunctionCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": to}}
			}
			if to, delegates := strings.CutPrefix(name, "delegate:"); delegates {
				call = &genai.FunctionCall{Name: to, Args: map[string]any{"request": fmt.Sprintf("Do what is needed: %d.%d%s%s", k, i, m.p.fact("task %s %d %d", m.node.name, k, i), strings.Repeat(" and do it well", next.words/4))}}
			}
			if name == "finish" {
				call = &genai.FunctionCall{Name: "finish_task", Args: map[string]any{"result": fmt.Sprintf("%s is done%s", m.node.name, m.p.fact("done %s %d", m.node.name, k))}}
			}
			if name == "expert" {
				call = &genai.FunctionCall{Name: "expert_of_" + m.node.name, Args: map[string]any{"request": "What now?"}}
			}
			content.Parts = append(content.Parts, &genai.Part{FunctionCall: call})
		}
		if len(content.Parts) == 0 {
			if strings.HasPrefix(m.node.name, "expert_of_") {
				k = 0 // two of its calls may run at once
			}
			content.Parts = []*genai.Part{{Text: fmt.Sprintf("%s speaks for the %dth time%s%s.", m.node.name, k, m.p.fact("text %s %d", m.node.name, k), strings.Repeat(" and means it", next.words/3))}}
		}
		yield(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop}, nil)
	}
}

// text is an event without what differs from play to play.
func text(ev *session.Event) string {
	state := maps.Clone(ev.Actions.StateDelta)
	if delete(state, guard.StateKey); len(state) == 0 { // what the layers keep there
		state = nil
	}
	return fmt.Sprintf("%s in %q: %s long %d state %s code %q transfer %q%s", ev.Author, ev.Branch, canonical(ev.Content), len(ev.LongRunningToolIDs),
		canonical(state), ev.ErrorCode, ev.Actions.TransferToAgent, more(ev)+canonical(ev.Actions.ArtifactDelta))
}

// more is what else [text] says of an event.
var more = func(*session.Event) string { return "" }

// canonical returns a value as JSON in which all IDs that ADK makes up are alike, also in the order of keys: a node that has
// asked several times is given a map of answers by the IDs of its calls.
func canonical(v any) string {
	if m, ok := v.(map[string]any); ok {
		var entries []string
		for key, value := range m {
			entries = append(entries, canonical(key)+": "+canonical(value))
		}
		slices.Sort(entries)
		return "{" + strings.Join(entries, ", ") + "}"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return noSuchTool.ReplaceAllString(madeUp.ReplaceAllString(string(data), "#"), "no such tool")
}

// noSuchTool matches what ADK answers to the call of a tool that does not exist, and what the layers put in its place.
var noSuchTool = regexp.MustCompile(`tool '[^']*' not found.*?function name"|There is no tool [^}]*"`)

// String describes an app for a failure message.
func (a app) String() string {
	var b strings.Builder
	var show func(n *node, indent string)
	show = func(n *node, indent string) {
		fmt.Fprintf(&b, "%s%s %s noParent %t noPeers %t none %t plan %+v\n", indent, n.kind, n.name, n.noParent, n.noPeers, n.none, n.plan)
		for _, child := range n.children {
			show(child, indent+"  ")
		}
	}
	if a.root != nil {
		show(a.root, "")
	}
	for i, turn := range a.turns {
		fmt.Fprintf(&b, "turn %d: %+v\n", i, turn)
	}
	return b.String()
}
