package integration_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// interruption is how a turn ends, besides by its guard.
type interruption string

const (
	byGuard       interruption = "guard"
	byCancelModel interruption = "cancellation during a model call"
	byCancelTool  interruption = "cancellation in a tool"
	byConsumer    interruption = "consumer"
	byFailure     interruption = "failure of the model"
)

// stopFuzz is one random application. It is printed when it fails.
type stopFuzz struct {
	shape   guardShape
	bound   bound
	calls   int
	scope   guard.Scope
	cfg     guard.Config
	turns   []interruption
	at      []int // at which call, tool or event
	patient bool
	reopens bool
}

func randomStops(t *testing.T, random *rand.Rand) stopFuzz {
	f := stopFuzz{
		shape: guardShapes()[random.IntN(len(guardShapes()))], bound: bounds()[random.IntN(len(bounds()))], calls: 1 + random.IntN(30),
		scope: []guard.Scope{guard.ScopeTurn, guard.ScopeSession}[random.IntN(2)], patient: random.IntN(2) == 0, reopens: random.IntN(2) == 0,
	}
	f.cfg = guard.Config{
		Landing: []guard.LandingMode{guard.LandingSoft, guard.LandingHard}[random.IntN(2)],
		OnStop:  []guard.StopStyle{guard.AsError, guard.AsEvent}[random.IntN(2)],
	}
	if f.scope == guard.ScopeTurn {
		f.cfg.Turn = f.bound.limits(t, f.calls)
	} else {
		f.cfg.Session = f.bound.limits(t, f.calls)
	}
	for range 1 + random.IntN(3) {
		f.turns = append(f.turns, []interruption{byGuard, byCancelModel, byCancelTool, byConsumer, byFailure}[random.IntN(5)])
		f.at = append(f.at, 1+random.IntN(12))
	}
	return f
}

func (f stopFuzz) String() string {
	return fmt.Sprintf("%s, %s of the %s after %d calls, landing %q, on stop %q, turns %q at %v, patient %v, reopened %v",
		f.shape.name, f.bound.kind, f.scope, f.calls, f.cfg.Landing, f.cfg.OnStop, f.turns, f.at, f.patient, f.reopens)
}

// Whatever ends a turn, and wherever: it ends, the next request has no call without a response, and no message
// of the user is stored twice.
func TestStopsAndCancellationsLeaveWholeSessions(t *testing.T) {
	t.Parallel()
	rounds := testkit.Rounds(t, 250)
	var slowest atomic.Int64
	var stops, requests atomic.Int32
	t.Run("rounds", func(t *testing.T) {
		for i := range rounds {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(i), 13))
				f := randomStops(t, random)
				store := storages.InMemory()
				if all := storages.All; i%20 == 7 {
					store = all(t)[random.IntN(3)%len(all(t))]
				}
				played := &stopFuzzRun{t: t, stopFuzz: f, store: store, slowest: &slowest}
				played.play()
				stops.Add(int32(played.stops))
				requests.Add(int32(played.checked))
				if t.Failed() {
					t.Log(f)
				}
			})
		}
	})
	t.Logf("%d rounds, %d turns stopped by a guard, %d requests checked, the slowest turn took %v", rounds, stops.Load(), requests.Load(), time.Duration(slowest.Load()))
	if int(stops.Load()) < rounds/4 || int(requests.Load()) < rounds {
		t.Errorf("only %d stops and %d requests in %d rounds", stops.Load(), requests.Load(), rounds)
	}
}

// stopFuzzRun plays a random application.
type stopFuzzRun struct {
	t *testing.T
	stopFuzz
	store          storages.Storage
	slowest        *atomic.Int64
	stops, checked int
}

// service returns the storage with the layer that answers interrupted calls in the view.
func (f *stopFuzzRun) service() session.Service {
	f.t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.InvocationThreshold, cfg.TokenThreshold = &compactiontest.Oracle{}, compaction.Off, compaction.Off
	svc, err := compaction.NewCompactionService(f.store.Open(f.t), cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}

func (f *stopFuzzRun) play() {
	service, g := f.service(), guardOf(f.t, f.cfg)
	total, lost := 0, 0
	for i, by := range f.turns {
		if i > 0 && f.reopens {
			service, g = f.service(), guardOf(f.t, f.cfg)
		}
		calls := f.turn(service, g, by, f.at[i])
		total += calls
		if f.scope == guard.ScopeTurn && calls > f.calls || f.scope == guard.ScopeSession && total > f.calls {
			f.t.Errorf("turn %d made %d calls, %d together, of which %d were not stored", i, calls, total, lost)
		}
		if f.reopens {
			// The next process knows what is stored. Of an interrupted turn that is all but the calls in flight, and
			// those of agents inside a tool call that is in flight.
			used, err := guardOf(f.t, f.cfg).Usage(f.t.Context(), service, ref)
			if err != nil {
				f.t.Fatal(err)
			}
			if lost = total - used.ModelCalls; lost < 0 || lost > f.shape.lanes() && !f.shape.nested || by == byGuard && lost > 0 {
				f.t.Errorf("after turn %d, %d of %d calls are stored", i, used.ModelCalls, total)
			}
			total = used.ModelCalls
		}
	}
	f.check(service)
}

// turn plays a turn and returns how many calls it made.
func (f *stopFuzzRun) turn(service session.Service, g *guard.Guard, by interruption, at int) (calls int) {
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	llm := &tireless{name: pricedModel, even: true, during: func(_ context.Context, n int) error {
		switch {
		case n+1 == at && by == byCancelModel:
			cancel()
		case n+1 == at && by == byFailure:
			return errors.New("the provider is down")
		}
		return nil
	}}
	var ran atomic.Int32
	look := pinTool(f.t, "look", func() {
		if by == byCancelTool && int(ran.Add(1)) == at {
			cancel()
		}
	})
	r := runnerOf(f.t, service, f.shape.build(f.t, g.Model(llm), look), g.Plugin())
	started := time.Now()
	f.consume(ctx, r, by, at)
	if took := int64(time.Since(started)); took > f.slowest.Load() {
		f.slowest.Store(took)
	}
	if by == byFailure && llm.count() >= at {
		return llm.count() - 1 // a call that fails costs nothing
	}
	return llm.count()
}

// consume reads the events of a turn as an app does.
func (f *stopFuzzRun) consume(ctx context.Context, r *runner.Runner, by interruption, at int) {
	f.t.Helper()
	hangs := time.AfterFunc(2*time.Minute, func() { panic("a turn has not ended for two minutes: " + f.String()) })
	defer hangs.Stop()
	errs, events := 0, 0
	for ev, err := range r.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), f.shape.runConfig()) {
		if err != nil {
			if errors.Is(err, guard.ErrStopped) {
				f.stops++
			}
			if errs++; !f.patient || errs > 20 || ctx.Err() != nil {
				return
			}
			continue
		}
		if ev.ErrorCode != "" {
			f.stops++
		}
		if events++; by == byConsumer && events == at || ctx.Err() != nil && events > 200 {
			return
		}
	}
}

// check plays a turn without a guard and reads its requests as strictly as a provider does.
func (f *stopFuzzRun) check(service session.Service) {
	f.t.Helper()
	llm := &tireless{name: pricedModel, says: func(string, int, *modelRequest) *modelResponse { return compactiontest.Say("Done.") }}
	r := runnerOf(f.t, service, f.shape.build(f.t, llm, pinTool(f.t, "look", nil)))
	events := 0
	for _, err := range r.Run(f.t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("And now?", genai.RoleUser), f.shape.runConfig()) {
		if err != nil {
			f.t.Errorf("the turn after it: %v", err)
			break
		}
		if events++; events > 20 {
			break // a loop has no end
		}
	}
	for _, req := range llm.requests {
		f.checked++
		if problems := requests.Pairs(req.Contents); len(problems) > 0 {
			f.t.Errorf("the next request: %v", problems)
		}
	}
	asked := map[string]int{}
	for ev := range getBare(f.t, service).Events().All() {
		if ev.Author == "user" && len(requests.Responses(ev.Content)) == 0 {
			asked[ev.InvocationID]++
		}
	}
	for invocation, n := range asked {
		if n > 1 {
			f.t.Errorf("the message of %s is stored %d times", invocation, n)
		}
	}
}
