package gemini_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// bill is what the server charges, in nano-dollars, counted at the server and not with the code of the guard.
type bill struct {
	mu              sync.Mutex
	calls, requests int
	nano, before    int64 // before the newest agent call
	in, cached, out int64 // prices per token
}

func newBill(t *testing.T, model string) *bill {
	t.Helper()
	price, known := tokens.Lookup(model)
	if !known || !price.Priced() || price.CachedInputPrice == 0 {
		t.Fatalf("%s has no prices", model)
	}
	perToken := func(perMillion float64) int64 { return int64(math.Round(perMillion * 1000)) }
	return &bill{in: perToken(price.InputPrice), cached: perToken(price.CachedInputPrice), out: perToken(price.OutputPrice)}
}

func (b *bill) add(r *request, prompt, output int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests++
	if !r.summary {
		b.calls++
		b.before = b.nano
	}
	b.nano += int64(prompt-r.cached)*b.in + int64(r.cached)*b.cached + int64(output)*b.out
}

// guarded puts the app's agent under a guard, as another process would open it.
func (a *app) guarded(cfg guard.Config) *guard.Guard {
	a.t.Helper()
	g, err := guard.New(cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	root, err := llmagent.New(llmagent.Config{
		Name: "assistant", Description: "Plays assistant.", Instruction: "Answer in one sentence.",
		Model: g.Model(a.client(assistant)), Tools: []tool.Tool{a.lookup()},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	a.cfg.Observer = g.Compactions(a.log.Observe)
	svc, err := compaction.NewCompactionService(a.inner, a.cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	a.svc = svc
	a.t.Cleanup(func() { _ = svc.Close(context.Background()) })
	a.runner, err = runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: svc, PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{g.Plugin()}}})
	if err != nil {
		a.t.Fatal(err)
	}
	return g
}

// A ceiling of half a dollar holds to the nano-dollar: the ledger is what the server has charged for all
// requests, with implicit caching, thoughts and summaries, and the call that reaches the ceiling is the last, or with a
// soft landing the last one below it.
func TestALedgerOf200CallsIsThatOfTheServer(t *testing.T) {
	t.Parallel()
	for _, landing := range []guard.LandingMode{guard.LandingHard, guard.LandingSoft} {
		for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
			t.Run(fmt.Sprintf("landing %s, %s", landing, mode), func(t *testing.T) {
				t.Parallel()
				a := newApp(t, func(cfg *compaction.Config) { cfg.TokenThreshold, cfg.InvocationThreshold = 12_500, compaction.Off })
				a.mode, a.overhead, a.implicit, a.alike = mode, 8_000, 40, true
				a.forgetful()
				b := newBill(t, assistant)
				a.onUsage = b.add
				if _, err := a.inner.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
					t.Fatal(err)
				}
				const ceiling = 50 * tokens.Cent
				cfg := guard.Config{Turn: guard.Limits{ModelCalls: 10}, Session: guard.Limits{USD: ceiling}, Landing: landing}
				looks := a.lookups(false, 1)
				looks.thoughts = 40
				a.always = &looks
				var g *guard.Guard
				opened := 0
				var stop *guard.StopError
				for turn := 0; turn < 60 && (stop == nil || stop.Scope == guard.ScopeTurn); turn++ {
					// Another process, unless the cost of a summary waits for the next event of this one.
					if turn%5 == 0 && (g == nil || a.stores(b)) {
						g = a.guarded(cfg)
						opened++
					}
					if _, err := a.try(); err != nil && !errors.As(err, &stop) {
						t.Fatal(err)
					}
					a.checkLedger(g, b)
				}
				if stop == nil || stop.Kind != guard.CostCeiling || stop.Scope != guard.ScopeSession {
					t.Fatalf("the session ends with %v", stop)
				}
				least := int64(ceiling)
				if landing == guard.LandingSoft { // the last call is one behind which another might pass the ceiling
					least = int64(ceiling) * 99 / 100
				}
				if b.before >= int64(ceiling) || b.nano < least || b.calls < 180 || b.calls > 220 || b.requests-b.calls < 3 {
					t.Errorf("%d agent calls and %d summaries for %v, %v before the last call", b.calls, b.requests-b.calls, tokens.Nano(b.nano), tokens.Nano(b.before))
				}
				t.Logf("%d agent calls and %d summaries: %d nano-dollars at the server, stopped at %s of %s", b.calls, b.requests-b.calls, b.nano, stop.Spent, stop.Bound)
				if opened < 3 {
					t.Errorf("the session was opened by %d processes", opened)
				}
				if !a.stores(b) {
					return
				}
				for range 2 {
					requests, stored := b.requests, len(a.raw())
					g = a.guarded(cfg)
					if _, err := a.try(); !errors.Is(err, guard.ErrStopped) || b.requests != requests || len(a.raw()) != stored {
						t.Errorf("the next process ends with %v after %d requests", err, b.requests-requests)
					}
					a.checkLedger(g, b)
				}
			})
		}
	}
}

// stores reports whether the session's stored totals are the whole bill.
func (a *app) stores(b *bill) bool {
	a.t.Helper()
	resp, err := a.inner.Get(a.t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		a.t.Fatal(err)
	}
	used, ok := guard.Stored(resp.Session)
	return ok && int64(used.USD) == b.nano
}

// checkLedger compares the ledger of the session with the server's bill.
func (a *app) checkLedger(g *guard.Guard, b *bill) {
	a.t.Helper()
	if err := a.svc.Flush(a.t.Context(), ref); err != nil {
		a.t.Fatal(err)
	}
	used, err := g.Usage(a.t.Context(), a.svc, ref)
	if err != nil {
		a.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(used.USD) != b.nano || used.ModelCalls != b.requests || used.Summaries.Calls != b.requests-b.calls {
		a.t.Errorf("the ledger has %d nano-dollars for %d calls, of which %d are summaries; the server %d for %d and %d", used.USD, used.ModelCalls, used.Summaries.Calls, b.nano, b.requests, b.requests-b.calls)
	}
}

// streaming returns an app whose model streams, with the guard of its session and the bill of the server.
func streaming(t *testing.T) (*app, *guard.Guard, *bill) {
	t.Helper()
	a := newApp(t, nil)
	a.mode = agent.StreamingModeSSE
	b := newBill(t, assistant)
	a.onUsage = b.add
	if _, err := a.inner.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	g := a.guarded(guard.Config{})
	return a, g, b
}

// A stream breaks off between two of its parts. The ledger has what the server has reported, whether or not the client says
// that it failed.
func TestAStreamThatBreaksOffIsCharged(t *testing.T) {
	t.Parallel()
	a, g, b := streaming(t)
	broken := say("This answer is long enough to be sent in three pieces.")
	broken.cut = betweenChunks
	a.will(assistant, broken)
	for _, err := range a.runner.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Hello", genai.RoleUser), agent.RunConfig{StreamingMode: a.mode}) {
		if err != nil && adk.Major == 1 {
			t.Fatal(err)
		}
	}
	a.checkLedger(g, b)
	if b.calls != 1 || b.nano == 0 {
		t.Errorf("%d calls for %d", b.calls, b.nano)
	}
}

// The consumer leaves a stream: the server has charged for it, and the ledger has what was reported until then.
func TestAStreamThatIsLeftIsCharged(t *testing.T) {
	t.Parallel()
	a, g, b := streaming(t)
	a.will(assistant, answer(), answer())
	for ev, err := range a.runner.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Hello", genai.RoleUser), agent.RunConfig{StreamingMode: a.mode}) {
		if err != nil || !ev.Partial {
			t.Fatalf("%+v, %v", ev, err)
		}
		break
	}
	a.checkLedger(g, b)
	for _, err := range a.runner.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Hello", genai.RoleUser), agent.RunConfig{StreamingMode: a.mode}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	a.checkLedger(g, b)
	if b.calls != 2 {
		t.Errorf("%d calls", b.calls)
	}
}
