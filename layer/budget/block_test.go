package budget

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
)

// newSessions returns a compaction service that compacts only when it is asked to.
func newSessions(t testing.TB) *compaction.CompactionSessionService {
	t.Helper()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: &summarizer.Extractive{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off, ContextWindow: 1_000_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}

// strict checks every request as a provider would.
func strict(t *testing.T) func(context.Context, *model.LLMRequest, bool) {
	return func(_ context.Context, req *model.LLMRequest, _ bool) {
		if problems := requests.Problems(req.Contents); len(problems) > 0 {
			t.Errorf("a provider would refuse the request: %s", strings.Join(problems, "; "))
		}
	}
}

// plan is n tool rounds and an answer.
func plan(n int) answers {
	all := answers{}
	for range n {
		all = append(all, looksUp(1))
	}
	return append(all, says("done"))
}

func TestATooLargeRequestIsCompactedAndBuiltAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		svc, log := newSessions(t), &journal{}
		m := newMeter(t, Config{ContextWindow: 4000, Compactor: svc, Observer: log.Observe}, log)
		inner := &script{t: t, name: "test-model", plan: plan(20), inspect: strict(t)}
		c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 400, nil)}}), m.Plugin())
		c.mode = mode
		events := c.mustAsk("look everything up")
		if len(events) != 41 {
			t.Errorf("%d events, want 20 rounds and an answer", len(events))
		}
		if len(log.of(Rebuilt)) == 0 || len(log.of(Dropped)) > 0 || len(log.of(Failed)) > 0 || inner.calls() != 21 {
			t.Errorf("%d calls:\n%s", inner.calls(), log)
		}
		for _, o := range log.of(Sent) {
			if o.Budget.ExceedsBudget() {
				t.Errorf("a request of %d tokens was sent, the effective window is %d", o.Budget.UsedTokens(), o.Budget.EffectiveWindow())
			}
		}
		if !strings.Contains(inner.request(20), "Summary") {
			t.Error("the last request has no summary")
		}
	}
}

func TestARefusedRequestIsCompactedAndBuiltAgain(t *testing.T) {
	t.Parallel()
	svc, log := newSessions(t), &journal{}
	m := newMeter(t, Config{Compactor: svc, Observer: log.Observe}, log)
	all := plan(12)
	inner := &script{t: t, name: "test-model", inspect: strict(t), plan: append(all[:12:12], failing(tooLong("2100")), says("done"))}
	c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 200, nil)}}), m.Plugin())
	c.mustAsk("look everything up")
	if len(log.of(Refused)) != 1 || len(log.of(Rebuilt)) != 1 || inner.calls() != 14 {
		t.Errorf("%d calls:\n%s", inner.calls(), log)
	}
	if first, second := inner.request(12), inner.request(13); len(second) > len(first)*19/20 {
		t.Errorf("the second request has %d bytes, the first %d", len(second), len(first))
	}
}

func TestARequestThatWasCompactedAndIsRefusedIsNotCompactedAgain(t *testing.T) {
	t.Parallel()
	svc, log := newSessions(t), &journal{}
	compactor := &counting{Compactor: svc}
	m := newMeter(t, Config{ContextWindow: 3000, Compactor: compactor, Observer: log.Observe, Masker: newMasker(t)}, log)
	inner := &script{t: t, name: "test-model", inspect: strict(t)}
	refusals := 0
	inner.plan = answers{func(req *model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
		if n := compactor.n.Swap(0); n > 1 {
			t.Errorf("%d compactions for one request", n)
		} else if n == 1 && refusals < 2 {
			refusals++
			return failing(tooLong("2100"))(req)
		}
		if inner.calls() > 30 {
			return says("done")(req)
		}
		return looksUp(1)(req)
	}}
	c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 300, nil)}}), m.Plugin())
	if _, err := c.ask("look everything up"); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if refusals < 2 || len(log.of(Refused)) != refusals || compactor.n.Load() > 0 {
		t.Errorf("%d refusals, %d reported, and %d compactions after the last call\n%s", refusals, len(log.of(Refused)), compactor.n.Load(), log)
	}
}

// counting counts compactions.
type counting struct {
	Compactor
	n atomic.Int64
}

func (c *counting) Compact(ctx context.Context, ref compaction.SessionRef, opts compaction.CompactOptions) (compaction.CompactResult, error) {
	c.n.Add(1)
	return c.Compactor.Compact(ctx, ref, opts)
}

func TestRebuildingCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	svc, log := newSessions(t), &journal{}
	compactor := &counting{Compactor: svc}
	m := newMeter(t, Config{ContextWindow: 4000, Compactor: compactor, DisableRebuild: true, Observer: log.Observe, Masker: newMasker(t)}, log)
	inner := &script{t: t, name: "test-model", plan: plan(20), inspect: strict(t)}
	c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 400, nil)}}), m.Plugin())
	c.mustAsk("look everything up")
	if compactor.n.Load() > 0 || len(log.of(Masked)) == 0 {
		t.Errorf("%d compactions\n%s", compactor.n.Load(), log)
	}
}

// broken is a compactor that fails in some way.
type broken struct{ how func(context.Context) error }

func (b broken) Owns(session.Session) bool { return true }
func (b broken) Compact(ctx context.Context, _ compaction.SessionRef, _ compaction.CompactOptions) (compaction.CompactResult, error) {
	return compaction.CompactResult{}, b.how(ctx)
}
func (b broken) ObserveSent(agent.InvocationContext, *model.LLMRequest, int) { panic("no thanks") }

// hostile is an observer that fails in some way.
func hostile(log *journal) func(context.Context, Observation) {
	return func(ctx context.Context, o Observation) {
		log.Observe(ctx, o)
		panic("an observer")
	}
}

func TestNoLayerThatFailsFailsATurn(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	for name, how := range map[string]func(context.Context) error{
		"fails":              func(context.Context) error { return errors.New("no") },
		"panics":             func(context.Context) error { panic("no") },
		"hangs":              func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"hangs for good":     func(context.Context) error { <-released; return nil },
		"does nothing":       func(context.Context) error { return nil },
		"is canceled":        func(context.Context) error { return context.Canceled },
		"ends the goroutine": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &journal{}
			m := newMeter(t, Config{ContextWindow: 4000, Compactor: broken{how}, CompactTimeout: time.Millisecond, Observer: hostile(log), Masker: newMasker(t)})
			log.meter = m
			inner := &script{t: t, name: "test-model", plan: plan(20), inspect: strict(t)}
			c := newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 400, nil)}}), m.Plugin())
			c.mustAsk("look everything up")
			if inner.calls() != 21 || len(log.of(Failed)) == 0 {
				t.Errorf("%d calls\n%s", inner.calls(), log)
			}
			for _, o := range log.of(Sent) {
				if o.Budget.ExceedsBudget() {
					t.Errorf("a request of %d tokens was sent, the effective window is %d", o.Budget.UsedTokens(), o.Budget.EffectiveWindow())
				}
			}
		})
	}
}

func TestAPartLargerThanTheWindowIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	huge := rounds(3, 100)
	huge.Contents = append(huge.Contents, genai.NewContentFromText(strings.Repeat("word ", 6000), genai.RoleUser))
	inner := &script{t: t, name: "test-model", plan: answers{says("done")}}
	_, err := once(t, newMeter(t, Config{ContextWindow: 4000}).Model(inner), huge)
	var overflow *OverflowError
	if !errors.As(err, &overflow) || overflow.Sent || inner.calls() != 0 {
		t.Fatalf("%v after %d calls", err, inner.calls())
	}
	if largest := overflow.Largest[0]; largest.What != userMessage || largest.Content < 1 || largest.Tokens < 4000 || overflow.Window != 4000 {
		t.Errorf("%+v", overflow)
	}

	// If the window is only assumed, the provider decides.
	huge.Contents[len(huge.Contents)-1].Parts[0].Text = strings.Repeat("word ", 200_000)
	if _, err := once(t, newMeter(t, Config{}).Model(inner), huge); err != nil || inner.calls() != 1 {
		t.Errorf("%v after %d calls", err, inner.calls())
	}
}

// No message of a user is ever dropped. As long as no request was counted, the sizes are only estimates, and
// the provider decides.
func TestARequestThatIsTooLargeByTheProvidersOwnCountsIsNotSent(t *testing.T) {
	t.Parallel()
	for _, counts := range []bool{true, false} {
		inner := &script{t: t, name: "test-model"}
		inner.plan = answers{func(req *model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
			answer := &model.LLMResponse{Content: genai.NewContentFromText("Noted.", genai.RoleModel), FinishReason: genai.FinishReasonStop}
			if counts {
				answer.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(1000 * (len(req.Contents) + 1) / 2)}
			}
			return responses(answer)(req)
		}}
		m := newMeter(t, Config{ContextWindow: 4000})
		c := newChat(t, newSessions(t), newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner)}), m.Plugin())
		var err error
		for range 5 {
			if _, err = c.ask(strings.Repeat("word ", 900)); err != nil {
				break
			}
		}
		var overflow *OverflowError
		if !counts {
			if err != nil || inner.calls() != 5 {
				t.Errorf("without counts: %v after %d calls", err, inner.calls())
			}
			continue
		}
		if err != nil || inner.calls() != 5 || !strings.Contains(inner.request(4), "[truncated: kept") {
			t.Errorf("%v after %d calls; the last has no shortened message, or no call was made", err, inner.calls())
		}
		if _, err = c.ask(strings.Repeat("word ", 5000)); !errors.As(err, &overflow) || overflow.Sent || inner.calls() != 5 {
			t.Errorf("a message over the window: %v after %d calls", err, inner.calls())
		}
	}
}

func TestAnInstructionLargerThanTheWindowIsNamed(t *testing.T) {
	t.Parallel()
	req := rounds(1, 10)
	req.Config.SystemInstruction = genai.NewContentFromText(strings.Repeat("word ", 6000), genai.RoleUser)
	inner := &script{t: t, name: "test-model", plan: answers{says("done")}}
	_, err := once(t, newMeter(t, Config{ContextWindow: 4000}).Model(inner), req)
	var overflow *OverflowError
	if !errors.As(err, &overflow) || overflow.Largest[0].What != systemInstruction || !strings.Contains(err.Error(), "shorten its instruction") {
		t.Errorf("%v", err)
	}
}

func TestAPassiveMeterOnlyMasks(t *testing.T) {
	t.Parallel()
	svc, log := newSessions(t), &journal{}
	compactor := &counting{Compactor: svc}
	m := newMeter(t, Config{ContextWindow: 4000, Compactor: compactor, Observer: log.Observe, Passive: true,
		Masker: must(toolresult.NewMasker(toolresult.Masking{BatchTokens: 1000}))}, log)
	refusal := tooLong("2100")
	all := plan(20)
	inner := &script{t: t, name: "test-model", plan: append(all[:20:20], failing(refusal)), inspect: strict(t)}
	c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 400, nil)}}), m.Plugin())
	_, err := c.ask("look everything up")
	if err != refusal || inner.calls() != 21 || compactor.n.Load() > 0 || len(log.of(Blocked))+len(log.of(Refused))+len(log.of(Dropped)) > 0 {
		t.Errorf("%v after %d calls and %d compactions\n%s", err, inner.calls(), compactor.n.Load(), log)
	}
	if !strings.Contains(inner.request(20), "[result masked") {
		t.Error("nothing was masked")
	}
	huge := rounds(1, 10)
	huge.Contents[0].Parts[0].Text = strings.Repeat("word ", 6000)
	if _, err := once(t, m.Model(&script{t: t, name: "test-model", plan: answers{says("done")}}), huge); err != nil {
		t.Errorf("a request over the window: %v", err)
	}
}

// recorder counts callbacks of an app and of an agent.
type recorder struct {
	mu sync.Mutex
	n  map[string]int
}

func (r *recorder) note(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == nil {
		r.n = map[string]int{}
	}
	r.n[name]++
}

func (r *recorder) plugin() *plugin.Plugin {
	return must(plugin.New(plugin.Config{
		Name:                "app",
		BeforeAgentCallback: func(agent.CallbackContext) (*genai.Content, error) { r.note("before agent"); return nil, nil },
		AfterAgentCallback:  func(agent.CallbackContext) (*genai.Content, error) { r.note("after agent"); return nil, nil },
		BeforeModelCallback: func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
			r.note("before model")
			return nil, nil
		},
		AfterModelCallback: func(agent.CallbackContext, *model.LLMResponse, error) (*model.LLMResponse, error) {
			r.note("after model")
			return nil, nil
		},
		BeforeToolCallback: func(agent.ToolContext, tool.Tool, map[string]any) (map[string]any, error) {
			r.note("before tool")
			return nil, nil
		},
		AfterToolCallback: func(agent.ToolContext, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			r.note("after tool")
			return nil, nil
		},
		OnEventCallback: func(agent.InvocationContext, *session.Event) (*session.Event, error) {
			r.note("event")
			return nil, nil
		},
	}))
}

// The callbacks that build a request run once more for each rebuild, and no others.
func TestCallbacksRunAsOftenAsWithoutTheMeterButForARebuild(t *testing.T) {
	t.Parallel()
	run := func(window int, wrap bool) (map[string]int, int) {
		svc, log, seen := newSessions(t), &journal{}, &recorder{}
		m := newMeter(t, Config{ContextWindow: window, Compactor: svc, Observer: log.Observe}, log)
		inner := &script{t: t, name: "test-model", plan: plan(12), inspect: strict(t)}
		var llm model.LLM = inner
		plugins := []*plugin.Plugin{seen.plugin()}
		if wrap {
			llm = m.Model(inner)
			plugins = append([]*plugin.Plugin{m.Plugin()}, plugins...)
		}
		newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: llm, Tools: []tool.Tool{lookup(t, 300, nil)}}), plugins...).mustAsk("look everything up")
		return seen.n, len(log.of(Rebuilt))
	}
	without, _ := run(1_000_000, false)
	if with, _ := run(1_000_000, true); fmt.Sprint(with) != fmt.Sprint(without) {
		t.Errorf("callbacks: %v, without the meter %v", with, without)
	}
	with, rebuilt := run(3000, true)
	if rebuilt == 0 {
		t.Fatal("nothing was rebuilt")
	}
	for name := range without {
		want := without[name]
		if name == "before agent" || name == "before model" || name == "after agent" {
			want += rebuilt
		}
		if with[name] != want {
			t.Errorf("%s: %d times, want %d (%d rebuilds)", name, with[name], want, rebuilt)
		}
	}
}

// danger is a tool that asks for confirmation.
func danger(t *testing.T, ran *atomic.Int64) tool.Tool {
	return must(functiontool.New(functiontool.Config{Name: "danger", Description: "Deletes an item.", RequireConfirmation: true},
		func(_ agent.ToolContext, args lookupArgs) (map[string]any, error) {
			ran.Add(1)
			return map[string]any{"deleted": args.N}, nil
		}))
}

// ADK resumes an approved tool when it builds a request.
func TestAnApprovedToolRunsOnceHoweverOftenTheRequestIsBuilt(t *testing.T) {
	t.Parallel()
	for _, plugged := range []bool{true, false} {
		for rounds := range 4 {
			svc, log := newSessions(t), &journal{}
			m := newMeter(t, Config{ContextWindow: 4000, Compactor: svc, Observer: log.Observe, Masker: newMasker(t)}, log)
			all := append(plan(6)[:6:6], callsTool("danger", map[string]any{"n": 7}))
			inner := &script{t: t, name: "test-model", plan: append(all, plan(rounds)...)}
			var ran atomic.Int64
			var plugins []*plugin.Plugin
			if plugged {
				plugins = append(plugins, m.Plugin())
			}
			c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 300, nil), danger(t, &ran)}}), plugins...)
			approve(c, c.mustAsk("look up and delete"))
			if ran.Load() != 1 {
				t.Errorf("with plugin %v, %d rounds: the approved tool ran %d times\n%s", plugged, rounds, ran.Load(), log)
			}
		}
	}
}

// forgetting is a session service whose views show no results of danger once the session was compacted. ADK
// then takes the approved tool for one that has not run.
type forgetting struct {
	session.Service
	ran       atomic.Int64
	forgotten atomic.Bool
}

type forgettingSession struct {
	session.Session
	owner *forgetting
}

type eventList []*session.Event

func (l eventList) Len() int                { return len(l) }
func (l eventList) At(i int) *session.Event { return l[i] }
func (l eventList) All() iter.Seq[*session.Event] {
	return slices.Values(l)
}

func (s *forgettingSession) Events() session.Events {
	all := slices.Collect(s.Session.Events().All())
	if !s.owner.forgotten.Load() {
		return eventList(all)
	}
	return eventList(slices.DeleteFunc(all, func(ev *session.Event) bool {
		return slices.ContainsFunc(requests.Responses(ev.Content), func(r *genai.FunctionResponse) bool { return r.Name == "danger" })
	}))
}

func (f *forgetting) Owns(session.Session) bool { return true }

func (f *forgetting) Compact(context.Context, compaction.SessionRef, compaction.CompactOptions) (compaction.CompactResult, error) {
	f.forgotten.Store(f.ran.Load() > 0)
	return compaction.CompactResult{Skipped: !f.forgotten.Load()}, nil
}

func (f *forgetting) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := f.Service.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: &forgettingSession{resp.Session, f}}, nil
}

func (f *forgetting) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := f.Service.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: &forgettingSession{resp.Session, f}}, nil
}

func (f *forgetting) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	return f.Service.AppendEvent(ctx, sess.(*forgettingSession).Session, ev)
}

func TestNoToolRunsWhileARequestIsBuiltAgain(t *testing.T) {
	t.Parallel()
	for _, plugged := range []bool{true, false} {
		svc, log := &forgetting{Service: session.InMemoryService()}, &journal{}
		m := newMeter(t, Config{ContextWindow: 4000, Compactor: svc, Observer: log.Observe}, log)
		inner := &script{t: t, name: "test-model", plan: answers{callsTool("danger", map[string]any{"n": 7}), says("done")}}
		var plugins []*plugin.Plugin
		if plugged {
			plugins = append(plugins, m.Plugin())
		}
		c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{danger(t, &svc.ran)}}), plugins...)
		approve(c, c.mustAsk(strings.Repeat("delete ", 3400)))
		if svc.ran.Load() != 1 || svc.forgotten.Load() != plugged {
			t.Errorf("with plugin %v: the approved tool ran %d times, compacted %v\n%s", plugged, svc.ran.Load(), svc.forgotten.Load(), log)
		}
	}
}

// approve approves what was asked for.
func approve(c *chat, events []*session.Event) {
	c.t.Helper()
	for _, ev := range events {
		for _, call := range requests.Calls(ev.Content) {
			if call.Name != toolconfirmation.FunctionCallName {
				continue
			}
			msg := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: call.ID, Name: call.Name, Response: map[string]any{"confirmed": true},
			}}}}
			if _, err := c.send(msg); err != nil {
				c.t.Error(err)
			}
			return
		}
	}
	c.t.Error("no confirmation was asked for")
}

func TestAnAgentAsAToolIsMaskedAndDroppedFromOnly(t *testing.T) {
	t.Parallel()
	svc, log := newSessions(t), &journal{}
	compactor := &counting{Compactor: svc}
	kept := &memory{}
	m := newMeter(t, Config{ContextWindow: 4000, Compactor: compactor, Observer: log.Observe, Masker: newMasker(t), Store: kept,
		Cutter: must(toolresult.New(toolresult.Config{Limits: toolresult.Limits{MaxBytes: 1500, StubAbove: toolresult.Off}, Readable: true}))}, log)
	expertModel := &script{t: t, name: "expert-model", plan: plan(30), inspect: strict(t)}
	expert := newAgent(t, llmagent.Config{Name: "expert", Description: "Knows.", Model: m.Model(expertModel), Tools: []tool.Tool{lookup(t, 400, nil)}})
	inner := &script{t: t, name: "test-model", plan: answers{callsTool("expert", map[string]any{"request": "help"}), says("done")}, inspect: strict(t)}
	c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{agenttool.New(expert, nil)}}), m.Plugin())
	c.mustAsk("ask the expert")
	if expertModel.calls() != 31 || compactor.n.Load() != 0 || len(log.of(Failed)) > 0 {
		t.Errorf("%d calls, %d compactions\n%s", expertModel.calls(), compactor.n.Load(), log)
	}
	for _, o := range log.of(Sent) {
		if o.Budget.ExceedsBudget() {
			t.Errorf("a request of %d tokens was sent, the effective window is %d", o.Budget.UsedTokens(), o.Budget.EffectiveWindow())
		}
	}
	if strings.Contains(expertModel.request(1), strings.Repeat("word ", 400)) {
		t.Error("the first result is whole")
	}
	if len(kept.results) == 0 {
		t.Error("no result was stored")
	}
	for ref, text := range kept.results {
		if !strings.Contains(text, strings.Repeat("word ", 400)) {
			t.Errorf("%s is %.60q", ref, text)
		}
	}
}

// memory is a store for tests.
type memory struct {
	store.Source
	mu      sync.Mutex
	results map[string]string
}

func (m *memory) Put(_ context.Context, owner store.Owner, _ string, r store.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil {
		m.results = map[string]string{}
	}
	m.results[owner.SessionID+"/"+r.Ref] = r.Content
	return nil
}

// A store that panics leaves results whole.
func TestAStoreThatFailsLeavesResultsWhole(t *testing.T) {
	t.Parallel()
	log := &journal{}
	m := newMeter(t, Config{Observer: log.Observe, Store: badStore{}, Masker: newMasker(t),
		Cutter: must(toolresult.New(toolresult.Config{Limits: toolresult.Limits{MaxBytes: 1500, StubAbove: toolresult.Off}, Readable: true}))}, log)
	inner := &script{t: t, name: "test-model", plan: plan(3), inspect: strict(t)}
	newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 400, nil)}})).mustAsk("look")
	if !strings.Contains(inner.request(3), strings.Repeat("word ", 400)) || len(log.of(Failed)) == 0 {
		t.Errorf("a result was cut that nobody has:\n%s", log)
	}
}

type badStore struct{ store.Source }

func (badStore) Put(context.Context, store.Owner, string, store.Result) error {
	panic("the disk is gone")
}

// Usage is cumulative in a stream: only the last report counts.
func TestAStreamsUsageCountsOnce(t *testing.T) {
	t.Parallel()
	usage := func(prompt int32, partial bool) *model.LLMResponse {
		return &model.LLMResponse{
			Content: genai.NewContentFromText("word", genai.RoleModel), Partial: partial,
			UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: 5, TotalTokenCount: prompt + 5},
		}
	}
	m := newMeter(t, Config{})
	inner := &script{t: t, name: "test-model", plan: answers{responses(usage(30, true), usage(30, true), usage(30, false))}}
	newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner)})).mustAsk("hello")
	if got := m.Tracker(ref).Report(); !strings.Contains(got, "Input: 30, Output: 5 ") {
		t.Errorf("%s", got)
	}
}

// An estimate is no count of a provider, so a person who compares it with the bill is told.
func TestAnEstimateIsNotShownAsACount(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{ContextWindow: 100_000})
	say := func(counted bool) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
		return func(req *model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
			resp := countedAnswer(m, "word", false)(req)
			if !counted {
				resp.UsageMetadata = nil
			}
			return responses(resp)(req)
		}
	}
	inner := &script{t: t, name: "test-model", plan: answers{say(true), say(false), say(true)}}
	chat := newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner)}))
	const mark = " (with estimates)"
	for turn, want := range []bool{false, true, true} { // the sums have the estimate from then on
		chat.mustAsk("hello")
		tracker := m.Tracker(ref)
		if got := tracker.Report(); strings.HasSuffix(got, mark) != want || strings.Contains(tracker.Metrics(), mark) != want {
			t.Errorf("turn %d: %q, want a mark: %v", turn+1, got, want)
		}
		if got := tracker.Turns()[turn].Total; got == 0 {
			t.Errorf("turn %d counts nothing", turn+1)
		}
	}
}
