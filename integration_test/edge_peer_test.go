package integration_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/remoteagent/v2"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/server/adka2a/v2"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// peer is an A2A server with its own agent over its own compacting service.
type peer struct {
	t     *testing.T
	model *compactiontest.Model
	inner session.Service
	log   *journal
	agent agent.Agent // the agent as its clients see it

	// reply returns the next response. forge adds something to its metadata, if not nil.
	reply func(req *model.LLMRequest) *model.LLMResponse
	forge func() any

	mu       sync.Mutex
	contexts []string // of every message, in order
	parts    []int    // of every message
	tasks    []a2a.TaskID
}

// newPeer starts a server for an agent with the given name and tools.
func newPeer(t *testing.T, name string, tools ...tool.Tool) *peer {
	t.Helper()
	p := &peer{t: t, inner: session.InMemoryService(), log: &journal{}}
	p.model = compactiontest.NewModel("model-of-"+name, func(_ int, req *model.LLMRequest) *model.LLMResponse {
		for _, problem := range requests.Pairs(req.Contents) {
			t.Errorf("%s: %s", name, problem)
		}
		resp := answer()
		if p.reply != nil {
			resp = p.reply(req)
		}
		if p.forge != nil {
			resp.CustomMetadata = map[string]any{compactionKey: p.forge(), "harmless": "stays"}
		}
		return resp
	})
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.Observer = &compactiontest.Oracle{}, true, p.log.Observe
	svc, err := compaction.NewCompactionService(p.inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	far, err := llmagent.New(llmagent.Config{Name: name, Model: p.model, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	executor := adka2a.NewExecutor(adka2a.ExecutorConfig{
		RunnerConfig: runner.Config{AppName: name, Agent: far, SessionService: svc},
		BeforeExecuteCallback: func(ctx context.Context, req *a2asrv.ExecutorContext) (context.Context, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.contexts = append(p.contexts, req.ContextID)
			p.parts = append(p.parts, len(req.Message.Parts))
			p.tasks = append(p.tasks, req.TaskID)
			return ctx, nil
		},
	})
	server := httptest.NewServer(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor)))
	t.Cleanup(func() {
		server.Close()
		_ = svc.Close(context.Background())
	})
	p.agent, err = remoteagent.NewA2A(remoteagent.A2AConfig{Name: name, Description: "Is far away.", AgentCard: &a2a.AgentCard{
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(server.URL, a2a.TransportProtocolJSONRPC)},
		Capabilities:        a2a.AgentCapabilities{Streaming: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stored returns the peer's stored events. All requests must have been in one context.
func (p *peer) stored() []*session.Event {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := slices.Compact(slices.Clone(p.contexts)); len(one) != 1 || one[0] == "" {
		p.t.Fatalf("the peer was asked in %d contexts, want one for the whole session: %q", len(one), one)
	}
	name, id := p.agent.Name(), p.contexts[0]
	resp, err := p.inner.Get(context.Background(), &session.GetRequest{AppName: name, UserID: "A2A_USER_" + id, SessionID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	return eventsOf(resp.Session)
}

// told counts how often the peer received each fact.
func (p *peer) told() map[string]int {
	p.t.Helper()
	told := map[string]int{}
	for _, ev := range withoutRecords(p.stored()) {
		if ev.Author == "user" {
			for _, fact := range histories.FactsIn(ev) {
				told[fact]++
			}
		}
	}
	return told
}

// checkTold checks that the peer received each of the facts once. A peer that loses its context
// receives the whole session again.
func (p *peer) checkTold(facts []string) {
	p.t.Helper()
	told := p.told()
	for _, fact := range facts {
		if told[fact] != 1 {
			p.t.Errorf("the peer was told %s %d times", fact, told[fact])
		}
	}
	if len(facts) < 10 {
		p.t.Errorf("only %d facts", len(facts))
	}
}
