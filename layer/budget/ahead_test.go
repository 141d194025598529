package budget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
)

// counted is a provider of an instruction that counts its calls.
func counted(n *atomic.Int64) llmagent.InstructionProvider {
	return func(agent.ReadonlyContext) (string, error) {
		n.Add(1)
		return "Be {brief}.", nil
	}
}

// contentsIn is how many contents a request has.
func contentsIn(t *testing.T, request string) int {
	t.Helper()
	var s sent
	if err := json.Unmarshal([]byte(request), &s); err != nil {
		t.Fatal(err)
	}
	return len(s.Contents)
}

func TestAheadCompactsBeforeTheRequestIsBuilt(t *testing.T) {
	t.Parallel()
	run := func(ahead bool) (*journal, *script, map[string]int, int64) {
		svc, log, seen := newSessions(t), &journal{}, &recorder{}
		var provided atomic.Int64
		m := newMeter(t, Config{ContextWindow: 4000, Compactor: svc, Observer: log.Observe}, log)
		inner := &script{t: t, name: "test-model", plan: plan(20), inspect: strict(t)}
		cfg := llmagent.Config{Name: "agent", Model: inner, InstructionProvider: counted(&provided), Tools: []tool.Tool{lookup(t, 400, nil)}}
		plugins := []*plugin.Plugin{seen.plugin()}
		if ahead {
			cfg.Model, cfg.InstructionProvider = m.Model(inner), m.Ahead(cfg.InstructionProvider)
			plugins = append([]*plugin.Plugin{m.Plugin()}, plugins...)
		}
		newChat(t, svc, newAgent(t, cfg), plugins...).mustAsk("look everything up")
		return log, inner, seen.n, provided.Load()
	}
	_, _, plain, plainProvided := run(false)
	log, inner, seen, provided := run(true)
	if n := len(log.of(CompactedAhead)); n == 0 || len(log.of(Blocked))+len(log.of(Rebuilt))+len(log.of(Dropped))+len(log.of(Failed)) > 0 || inner.calls() != 21 {
		t.Errorf("%d calls:\n%s", inner.calls(), log)
	}
	if fmt.Sprint(seen) != fmt.Sprint(plain) || provided != plainProvided || provided != 21 {
		t.Errorf("callbacks: %v and %d calls of the provider, without the meter %v and %d", seen, provided, plain, plainProvided)
	}
	shorter := 0
	for i := 1; i < inner.calls(); i++ {
		before, now := contentsIn(t, inner.request(i-1)), contentsIn(t, inner.request(i))
		if now < before {
			shorter++
		}
		if !strings.Contains(inner.request(i), "Be {brief}.") {
			t.Errorf("request %d lacks the instruction", i)
		}
	}
	if shorter != len(log.of(CompactedAhead)) {
		t.Errorf("%d requests were shorter than the one before, after %d compactions", shorter, len(log.of(CompactedAhead)))
	}
	for _, o := range log.of(CompactedAhead) {
		if o.Removed <= 0 || o.Estimated <= 0 || o.Model != "test-model" || o.Agent != "agent" {
			t.Errorf("%+v", o)
		}
	}
	for _, o := range log.of(Sent) {
		if o.Budget.ExceedsBudget() {
			t.Errorf("a request of %d tokens was sent, the effective window is %d", o.Budget.UsedTokens(), o.Budget.EffectiveWindow())
		}
	}
}

// A new turn begins with a handle of its own, and with a message that no request has had.
func TestAheadSeesTheMessageOfANewTurn(t *testing.T) {
	t.Parallel()
	svc, log := newSessions(t), &journal{}
	m := newMeter(t, Config{ContextWindow: 4000, Compactor: svc, Observer: log.Observe}, log)
	inner := &script{t: t, name: "test-model", plan: answers{says("done")}, inspect: strict(t)}
	c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner), InstructionProvider: m.Ahead(Instruction("Be brief."))}), m.Plugin())
	for range 12 {
		c.mustAsk(strings.Repeat("word ", 500))
	}
	if len(log.of(CompactedAhead)) == 0 || len(log.of(Blocked)) > 0 {
		t.Errorf("%s", log)
	}
}

func TestARequestIsCompactedOnceByAheadAndTheWrapperTogether(t *testing.T) {
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
	cfg := llmagent.Config{Name: "agent", Model: m.Model(inner), InstructionProvider: m.Ahead(Instruction("Be brief.")), Tools: []tool.Tool{lookup(t, 300, nil)}}
	if _, err := newChat(t, svc, newAgent(t, cfg), m.Plugin()).ask("look everything up"); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if refusals < 2 || len(log.of(CompactedAhead)) < 2 || len(log.of(Rebuilt)) > 0 || compactor.n.Load() > 0 {
		t.Errorf("%d refusals, and %d compactions after the last call\n%s", refusals, compactor.n.Load(), log)
	}
}

func TestACompactionAheadThatFailsFailsNoTurn(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	for name, how := range map[string]func(context.Context) error{
		"fails":          func(context.Context) error { return errors.New("no") },
		"panics":         func(context.Context) error { panic("no") },
		"hangs":          func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"hangs for good": func(context.Context) error { <-released; return nil },
		"does nothing":   func(context.Context) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &journal{}
			var provided atomic.Int64
			m := newMeter(t, Config{ContextWindow: 4000, Compactor: broken{how}, CompactTimeout: time.Millisecond, Observer: hostile(log), Masker: newMasker(t)})
			log.meter = m
			inner := &script{t: t, name: "test-model", plan: plan(20), inspect: strict(t)}
			cfg := llmagent.Config{Name: "agent", Model: m.Model(inner), InstructionProvider: m.Ahead(counted(&provided)), Tools: []tool.Tool{lookup(t, 400, nil)}}
			newChat(t, session.InMemoryService(), newAgent(t, cfg), m.Plugin()).mustAsk("look everything up")
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

// disowning owns no session, or panics.
type disowning struct {
	*counting
	panics bool
}

func (d disowning) Owns(session.Session) bool {
	if d.panics {
		panic("no")
	}
	return false
}

func TestAheadDoesNothingWhereItMustNot(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]func(*counting) Config{
		"no compactor":      func(*counting) Config { return Config{} },
		"a foreign session": func(c *counting) Config { return Config{Compactor: disowning{c, false}} },
		"Owns panics":       func(c *counting) Config { return Config{Compactor: disowning{c, true}} },
		"a passive meter":   func(c *counting) Config { return Config{Compactor: c, Passive: true} },
		"Block is off":      func(c *counting) Config { return Config{Compactor: c, Thresholds: Thresholds{Block: compaction.Off}} },
		"enough room":       func(c *counting) Config { return Config{Compactor: c, ContextWindow: 100_000} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc := newSessions(t)
			compactor := &counting{Compactor: svc}
			config := cfg(compactor)
			if config.ContextWindow == 0 {
				config.ContextWindow = 4000
			}
			var provided atomic.Int64
			m := newMeter(t, config)
			inner := &script{t: t, name: "test-model", plan: plan(12)}
			agentCfg := llmagent.Config{Name: "agent", Model: m.Model(inner), InstructionProvider: m.Ahead(counted(&provided)), Tools: []tool.Tool{lookup(t, 400, nil)}}
			newChat(t, svc, newAgent(t, agentCfg), m.Plugin()).mustAsk("look everything up")
			if compactor.n.Load() > 0 || provided.Load() != 13 || inner.calls() != 13 {
				t.Errorf("%d compactions, %d calls of the provider and %d of the model", compactor.n.Load(), provided.Load(), inner.calls())
			}
		})
	}
}

// A provider's context may come from an app's own code.
func TestAheadSurvivesContextsOfOtherMake(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{ContextWindow: 4000, Compactor: newSessions(t)})
	type hollow struct {
		agent.ReadonlyContext
		InvocationContext agent.InvocationContext
	}
	type odd struct {
		agent.ReadonlyContext
		InvocationContext int
	}
	for name, ctx := range map[string]agent.ReadonlyContext{"nil": nil, "a nil pointer": (*hollow)(nil), "no invocation": &hollow{}, "a number": odd{}} {
		if text, err := m.Ahead(Instruction("Be {brief}."))(ctx); text != "Be {brief}." || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	broken := errors.New("no text")
	if _, err := m.Ahead(func(agent.ReadonlyContext) (string, error) { return "", broken })(nil); err != broken {
		t.Errorf("the provider's error became %v", err)
	}
	if m.Ahead(nil) != nil {
		t.Error("a provider was made of nil")
	}
}
