package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/summarizer"
)

// prefixChecker compares requests as a provider's cache would, byte by byte.
type prefixChecker struct {
	t     testing.TB
	mu    sync.Mutex
	last  map[string][]string
	found []string // agent, branch and index of each break
	sent  int
}

// inspect is for script.inspect.
func (p *prefixChecker) inspect(ctx context.Context, req *model.LLMRequest, _ bool) {
	bytes := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			p.t.Error(err)
		}
		return string(data)
	}
	ic := ctx.(agent.InvocationContext)
	parts := []string{bytes(req.Config.SystemInstruction) + bytes(req.Config.Tools)}
	for _, c := range req.Contents {
		parts = append(parts, bytes(c))
	}
	who := ic.Agent().Name() + " " + ic.Branch()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent++
	before := p.last[who]
	at := 0
	for at < len(before) && at < len(parts) && before[at] == parts[at] {
		at++
	}
	if at < len(before) {
		p.found = append(p.found, fmt.Sprint(who, " ", at-1))
	}
	if p.last == nil {
		p.last = map[string][]string{}
	}
	p.last[who] = parts
}

// compare holds the reported breaks against those that were found, and returns their causes.
func (p *prefixChecker) compare(log *journal) map[Cause]int {
	p.t.Helper()
	var reported []string
	causes := map[Cause]int{}
	for _, o := range log.of(PrefixBroken) {
		reported = append(reported, fmt.Sprint(o.Break.Agent, " ", o.Break.Branch, " ", o.Break.At))
		causes[o.Break.Cause]++
		if o.Break.Lost <= 0 || o.Agent != o.Break.Agent {
			p.t.Errorf("an incomplete report: %+v %+v", o, o.Break)
		}
	}
	slices.Sort(reported)
	slices.Sort(p.found)
	if !slices.Equal(reported, p.found) {
		p.t.Errorf("reported %q, found %q", reported, p.found)
	}
	if n := len(log.of(Sent)); n != p.sent {
		p.t.Errorf("%d requests reported, %d sent", n, p.sent)
	}
	return causes
}

// play runs turns of an agent with a plan, and returns the causes of its prefix breaks.
type play struct {
	cfg    Config
	plan   answers
	agent  func(t *testing.T, cfg *llmagent.Config)
	root   func(t *testing.T, llm model.LLM) agent.Agent // instead of agent
	svc    func(t *testing.T) session.Service
	turns  int
	before func(t *testing.T, turn int, c *chat, log *journal) bool // true: instead of the question
}

func (p play) run(t *testing.T) map[Cause]int {
	t.Helper()
	log, checker := &journal{}, &prefixChecker{t: t}
	p.cfg.Observer = log.Observe
	m := newMeter(t, p.cfg, log)
	llm := m.Model(&script{t: t, name: "test-model", plan: p.plan, inspect: checker.inspect})
	cfg := llmagent.Config{Name: "assistant", Description: "Assists.", Instruction: "Be brief.", Model: llm, Tools: []tool.Tool{lookup(t, 300, nil)}}
	if p.agent != nil {
		p.agent(t, &cfg)
	}
	var svc session.Service = session.InMemoryService()
	if p.svc != nil {
		svc = p.svc(t)
	}
	var root agent.Agent
	if p.root != nil {
		root = p.root(t, llm)
	} else {
		root = newAgent(t, cfg)
	}
	c := newChat(t, svc, root, m.Plugin())
	for turn := range p.turns {
		if p.before != nil && p.before(t, turn, c, log) {
			continue
		}
		c.mustAsk(fmt.Sprintf("Question %d.", turn))
	}
	return checker.compare(log)
}

// cycle repeats answers.
func cycle(n int, once ...func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error]) answers {
	return slices.Repeat(once, n)
}

func TestEveryPrefixBreakIsReportedWithItsCause(t *testing.T) {
	t.Parallel()
	round := cycle(60, looksUp(2), looksUp(1), says("Done."))
	compacting := func(change func(*compaction.Config)) func(*testing.T) session.Service {
		return func(t *testing.T) session.Service {
			cfg := compaction.DefaultConfig()
			cfg.Summarizer, cfg.Synchronous, cfg.ContextWindow = summarizer.Extractive{}, true, 128_000
			if change != nil {
				change(&cfg)
			}
			return must(compaction.NewCompactionService(session.InMemoryService(), cfg))
		}
	}
	toolsInTurn := 0
	for name, r := range map[string]struct {
		play
		want map[Cause]bool // causes that must occur, and no others
	}{
		"tool rounds":      {play{plan: round, turns: 5}, nil},
		"notes in results": {play{plan: round, turns: 5, cfg: Config{ContextWindow: 20_000, Thresholds: Thresholds{Note: 0.05}}}, nil},
		"another instruction in each turn": {play{plan: round, turns: 4, agent: func(_ *testing.T, cfg *llmagent.Config) {
			cfg.Instruction = ""
			cfg.InstructionProvider = func(ctx agent.ReadonlyContext) (string, error) { return "Run " + ctx.InvocationID(), nil }
		}}, map[Cause]bool{CauseInstruction: true}},
		"a tool that comes and goes": {play{plan: round, turns: 4, agent: func(t *testing.T, cfg *llmagent.Config) {
			cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
				if toolsInTurn++; toolsInTurn%3 == 0 {
					adk.Declare(req, must(functiontool.New(functiontool.Config{Name: "extra", Description: "Sometimes."},
						func(agent.ToolContext, lookupArgs) (map[string]any, error) { return nil, nil })))
				}
				return nil, nil
			}}
		}}, map[Cause]bool{CauseTools: true}},
		"masking in batches": {play{plan: round, turns: 12, cfg: Config{
			Masker: must(toolresult.NewMasker(toolresult.Masking{BatchTokens: 1_500, From: 0.01}))}},
			map[Cause]bool{CauseMasked: true}},
		"summaries": {play{plan: round, turns: 14, svc: compacting(nil)}, map[Cause]bool{CauseCompacted: true}},
		"summaries in the middle of a turn": {play{plan: append(cycle(40, looksUp(2)), says("Done.")), turns: 1, svc: compacting(func(cfg *compaction.Config) {
			cfg.ContextWindow, cfg.MaxOutputTokens = 12_000, compaction.Off
		})}, map[Cause]bool{CauseCompacted: true}},
		"dropped rounds": {play{plan: append(cycle(12, looksUp(2)), says("Done.")), turns: 2, cfg: Config{ContextWindow: 8_000}},
			map[Cause]bool{CauseDropped: true}},
		"all results masked": {play{plan: append(cycle(12, looksUp(2)), says("Done.")), turns: 2, cfg: Config{
			ContextWindow: 8_000, Masker: must(toolresult.NewMasker(toolresult.Masking{BatchTokens: 100_000, KeepFirst: 1, KeepLast: 1}))}},
			map[Cause]bool{CauseMasked: true}},
		"an agent that is shown the running turn only": {play{plan: round, turns: 4, agent: func(_ *testing.T, cfg *llmagent.Config) {
			cfg.IncludeContents = llmagent.IncludeContentsNone
		}}, map[Cause]bool{CauseOther: true}},
		"parallel agents": {play{plan: cycle(30, says("Done.")), turns: 3, root: func(t *testing.T, llm model.LLM) agent.Agent {
			var subs []agent.Agent
			for _, name := range []string{"left", "right"} {
				subs = append(subs, newAgent(t, llmagent.Config{Name: name, Description: "One side.", Model: llm}))
			}
			return must(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: subs}}))
		}}, nil},
		"a late answer": {play{plan: append(answers{callsTool("order", map[string]any{"n": 1})}, cycle(30, says("Wait."))...), turns: 4,
			agent: func(t *testing.T, cfg *llmagent.Config) {
				cfg.Tools = []tool.Tool{must(functiontool.New(functiontool.Config{Name: "order", Description: "Takes long.", IsLongRunning: true},
					func(agent.ToolContext, lookupArgs) (map[string]any, error) {
						return map[string]any{"status": "pending"}, nil
					}))}
			},
			before: func(t *testing.T, turn int, c *chat, _ *journal) bool {
				if turn != 2 {
					return false
				}
				stored := must(c.svc.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}))
				for ev := range stored.Session.Events().All() {
					if ev.Content != nil && ev.Content.Parts[0].FunctionCall != nil {
						answer := &genai.FunctionResponse{ID: ev.Content.Parts[0].FunctionCall.ID, Name: "order", Response: map[string]any{"status": "sent"}}
						if _, err := c.send(&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: answer}}}); err != nil {
							t.Fatal(err)
						}
					}
				}
				return true
			}}, map[Cause]bool{CauseLateAnswer: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[Cause]bool{}
			causes := r.play.run(t)
			for cause := range causes {
				got[cause] = true
			}
			if !maps.Equal(got, r.want) {
				t.Errorf("causes %v, want %v", causes, r.want)
			}
		})
	}
}

// The session is compacted in the middle of a model call.
func TestARebuiltRequestIsTheCauseOfItsBreak(t *testing.T) {
	t.Parallel()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.ContextWindow = summarizer.Extractive{}, 1_000_000
	cfg.InvocationThreshold, cfg.TokenThreshold = compaction.Off, compaction.Off
	svc := must(compaction.NewCompactionService(session.InMemoryService(), cfg))
	got := play{
		plan: cycle(60, looksUp(2), says("Done.")), turns: 30, cfg: Config{ContextWindow: 16_000, Compactor: svc},
		svc: func(*testing.T) session.Service { return svc },
	}.run(t)
	if got[CauseRebuilt] == 0 || len(got) != 1 {
		t.Errorf("causes %v, want rebuilt requests only", got)
	}
}

func TestTheCauseIsThatOfTheFirstDifference(t *testing.T) {
	t.Parallel()
	const summary = "[Summary of an earlier part of this same conversation. It stands in for messages that are no longer shown. It is background, not an instruction, and not something the user just said.]\n\nOrder 7.\n\n[End of summary.]"
	said := func(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleUser) }
	answered := func(response map[string]any) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "find", Response: response}}}}
	}
	whole := answered(map[string]any{"output": strings.Repeat("word ", 50)})
	masked := answered(map[string]any{"result": "[result masked — ~50 tokens removed]", "ref_id": "r-0000000000000000"})
	both := func(one, other *genai.Content) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{one.Parts[0], other.Parts[0]}}
	}
	type request struct {
		instruction string
		tools       int
		did         actions
		contents    []*genai.Content
	}
	for _, r := range []struct {
		name        string
		before, now request
		at          int // -2: no break
		want        Cause
	}{
		{"the same again", request{contents: []*genai.Content{said("a")}}, request{contents: []*genai.Content{said("a")}}, -2, ""},
		{"one more", request{contents: []*genai.Content{said("a")}}, request{contents: []*genai.Content{said("a"), said("b")}}, -2, ""},
		{"nothing before", request{}, request{contents: []*genai.Content{said("a")}}, -2, ""},
		{"instruction and all else", request{instruction: "a", contents: []*genai.Content{said("a")}}, request{instruction: "b", tools: 1, did: didDrop}, -1, CauseInstruction},
		{"tools and contents", request{contents: []*genai.Content{said("a")}}, request{tools: 1, contents: []*genai.Content{said(summary)}}, -1, CauseTools},
		{"a summary, rebuilt", request{contents: []*genai.Content{said("a")}}, request{did: didRebuild | didDrop, contents: []*genai.Content{said(summary)}}, 0, CauseRebuilt},
		{"a summary", request{contents: []*genai.Content{said("a")}}, request{contents: []*genai.Content{said(summary)}}, 0, CauseCompacted},
		{"a summary less", request{contents: []*genai.Content{said(summary), said("b")}}, request{contents: []*genai.Content{said("b")}}, 0, CauseCompacted},
		{"masked", request{contents: []*genai.Content{said("a"), whole}}, request{contents: []*genai.Content{said("a"), masked}}, 1, CauseMasked},
		{"shown again", request{contents: []*genai.Content{said("a"), masked}}, request{contents: []*genai.Content{said("a"), whole}}, 1, CauseMasked},
		{"the rest of parallel results masked", request{contents: []*genai.Content{said("a"), both(masked, whole)}}, request{contents: []*genai.Content{said("a"), both(masked, masked)}}, 1, CauseMasked},
		{"dropped", request{contents: []*genai.Content{said("a"), said("b")}}, request{did: didDrop, contents: []*genai.Content{said("b")}}, 0, CauseDropped},
		{"there again", request{did: didDrop, contents: []*genai.Content{said("b")}}, request{contents: []*genai.Content{said("a"), said("b")}}, 0, CauseDropped},
		{"a late answer", request{contents: []*genai.Content{said("a"), said("b")}}, request{contents: []*genai.Content{said("a"), whole}}, 1, CauseLateAnswer},
		{"cut off at the end", request{contents: []*genai.Content{said("a"), said("b")}}, request{contents: []*genai.Content{said("a")}}, 1, CauseOther},
		{"edited", request{contents: []*genai.Content{said("a"), said("b")}}, request{contents: []*genai.Content{said("A"), said("b")}}, 0, CauseOther},
	} {
		log := &journal{}
		m := newMeter(t, Config{Observer: log.Observe}, log)
		who := caller{ref: ref, agent: "assistant", model: "test-model"}
		for _, q := range []request{r.before, r.now} {
			req := &model.LLMRequest{Contents: q.contents, Config: &genai.GenerateContentConfig{SystemInstruction: said(q.instruction)}}
			for range q.tools {
				req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "find"}}})
			}
			m.sent(t.Context(), who, m.measure(who, req), q.did)
		}
		broken := log.of(PrefixBroken)
		switch {
		case r.at == -2 && len(broken) == 0:
		case r.at == -2 || len(broken) != 1 || broken[0].Break.At != r.at || broken[0].Break.Cause != r.want:
			for _, o := range broken {
				t.Errorf("%s: %+v", r.name, *o.Break)
			}
			t.Errorf("%s: %d breaks, want %q at %d", r.name, len(broken), r.want, r.at)
		}
	}
}
