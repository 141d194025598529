package integration_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// benchCalls is the number of model calls in each turn of the benchmark.
const benchCalls = 25

// benchTurn runs a turn of 25 model calls and 24 tools, and returns the bytes that it stored as the ledger's
// state.
func benchTurn(tb testing.TB, g *guard.Guard) (stateBytes int) {
	var llm model.LLM = &tireless{name: pricedModel, says: func(_ string, own int, _ *modelRequest) *modelResponse {
		if own == benchCalls-1 {
			return compactiontest.Say("Done.")
		}
		return nil
	}}
	cfg := runner.Config{AppName: ref.AppName, SessionService: session.InMemoryService(), AutoCreateSession: true}
	if g != nil {
		llm, cfg.PluginConfig = g.Model(llm), runner.PluginConfig{Plugins: []*plugin.Plugin{g.Plugin()}}
	}
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Returns n."}, func(_ agent.ToolContext, args lookupArgs) (map[string]any, error) {
		return map[string]any{"n": args.N}, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if cfg.Agent, err = llmagent.New(llmagent.Config{Name: "worker", Description: "Works.", Model: llm, Tools: []tool.Tool{look}}); err != nil {
		tb.Fatal(err)
	}
	r, err := runner.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for ev, err := range r.Run(tb.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			tb.Fatal(err)
		}
		if text, ok := ev.Actions.StateDelta[guard.StateKey].(string); ok {
			stateBytes += len(guard.StateKey) + len(text)
		}
	}
	return stateBytes
}

// BenchmarkGuard measures what a guard with every limit adds to a model call. Turns of bare ADK and guarded
// turns alternate, and the medians are compared, because other work on the machine slows both.
func BenchmarkGuard(b *testing.B) {
	limits := guard.Limits{USD: tokens.Dollar, ModelCalls: 1000, Tokens: 100_000_000}
	var bare, guarded []time.Duration
	stored := 0
	timed := func(g *guard.Guard) time.Duration {
		started := time.Now()
		stored = benchTurn(b, g)
		return time.Since(started)
	}
	for b.Loop() {
		g := guardOf(b, guard.Config{Turn: limits, Session: limits}) // once per process
		bare = append(bare, timed(nil))
		guarded = append(guarded, timed(g))
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return float64(of[len(of)/2].Nanoseconds()) / 1000 / benchCalls
	}
	b.ReportMetric(median(bare), "ADK-µs/call")
	b.ReportMetric(median(guarded)-median(bare), "guard-µs/call")
	b.ReportMetric(median(guarded)/median(bare), "guarded/ADK")
	b.ReportMetric(float64(stored)/benchCalls, "state-B/call")
}

// A model call costs at most a kilobyte of state, and with five models of long names two.
func TestTheLedgerStoresLessThanAKilobytePerCall(t *testing.T) {
	t.Parallel()
	limits := guard.Limits{USD: tokens.Dollar, ModelCalls: 1000, Tokens: 100_000_000}
	if stored := benchTurn(t, guardOf(t, guard.Config{Turn: limits, Session: limits})); stored == 0 || stored > benchCalls*1000 {
		t.Errorf("%d bytes of state for %d calls", stored, benchCalls)
	}
	service, models := session.InMemoryService(), 5
	g := guardOf(t, guard.Config{Turn: limits, Session: limits})
	for i := range models {
		llm := &tireless{name: fmt.Sprintf("vendor/a-model-with-a-long-name-%d", i), says: func(_ string, own int, _ *modelRequest) *modelResponse {
			if own == 3 {
				return compactiontest.Say("Done.")
			}
			return nil
		}}
		if p := guardedTurn(t, t.Context(), guardedRunner(t, service, guardShapes()[0], llm, g), ref, agent.RunConfig{}, 0); p.err() != nil {
			t.Fatal(p.err())
		}
	}
	value, err := getBare(t, service).State().Get(guard.StateKey)
	if text, ok := value.(string); err != nil || !ok || len(text) > 2000 {
		t.Errorf("with %d models the ledger has %d bytes (%v)", models, len(text), err)
	}
}
