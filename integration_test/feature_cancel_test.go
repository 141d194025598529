package integration_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/summarizer"
)

// steps counts the steps of a turn, and acts at one of them.
type steps struct {
	mu    sync.Mutex
	n, k  int
	act   func()
	kinds []string // of the steps at which it acted
}

// arm restarts the count, to act at the k-th step.
func (s *steps) arm(k int, act func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n, s.k, s.act = 0, k, act
}

// disarm reports whether the step was reached.
func (s *steps) disarm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reached := s.act == nil
	s.act = nil
	return reached
}

func (s *steps) step(kind string) {
	s.mu.Lock()
	s.n++
	act := s.act
	if act == nil || s.n != s.k {
		s.mu.Unlock()
		return
	}
	s.act, s.kinds = nil, append(s.kinds, kind)
	s.mu.Unlock()
	act()
}

// steppingService counts reads and appends. If heeds is true, it refuses a canceled context, as a
// database does.
type steppingService struct {
	session.Service
	*steps
	heeds bool
}

func (s steppingService) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if s.step("read"); s.heeds && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.Service.Get(ctx, req)
}

func (s steppingService) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if s.step("before an append"); s.heeds && ctx.Err() != nil {
		return ctx.Err()
	}
	err := s.Service.AppendEvent(ctx, sess, ev)
	s.step("after an append")
	return err
}

// steppingModel counts the calls of a model. It can refuse a canceled context too.
type steppingModel struct {
	model.LLM
	*steps
	heeds bool
}

func (m steppingModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if m.step("model"); m.heeds && ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		m.LLM.GenerateContent(ctx, req, stream)(yield)
	}
}

// The context of one turn ends at its first step, that of the next turn at its second step, and so
// on through all reads, appends and calls of models, tools and summarizers, including those of
// compactions. Stored events stay, and the turns in between succeed.
func TestACancellationAtAnyStepDoesNotSpoilTheNextTurns(t *testing.T) {
	t.Parallel()
	for i, played := range improvisations {
		for _, heeds := range []bool{false, true} {
			if heeds != (i%2 == 0) && !testkit.Whole() {
				continue // to save time
			}
			if testkit.Race && !heeds {
				continue // all of it is synchronous
			}
			t.Run(fmt.Sprintf("%s, heeded %t", played.name, heeds), func(t *testing.T) {
				t.Parallel()
				run, modes := takingTurns, []mode{synchronous, flushed}
				if !heeds { // the database refuses canceled contexts anyway
					run, modes = alwaysInMemory, modes[:1]
				}
				run(t, i, modes, func(t *testing.T, store storages.Storage, m mode) {
					s := &steps{}
					var a *app
					k := 0
					for reached := true; reached; {
						if k%sweep == 0 {
							a = steppingApp(t, store, m, s, heeds)
							played.start(a)
						}
						k++
						before := slices.Clone(a.history)
						ctx, cancel := context.WithCancel(t.Context())
						s.arm(k, cancel)
						a.interrupted(ctx, func(int, *session.Event) bool { return true })
						reached = s.disarm()
						cancel()
						a.checkKept(before)
						if !reached || k%sweep == 0 {
							a.verify(4)
						}
					}
					kinds := slices.Compact(slices.Sorted(slices.Values(s.kinds)))
					want := 5
					if m.synchronous {
						want = 6 // summarizers in every turn
					}
					if len(kinds) < want || k < 15 {
						t.Errorf("canceled at %d steps, only at %q", k-1, kinds)
					}
				})
			})
		}
	}
}

// sweep is the number of turns of one session that are spoiled, each at another step. More would
// take long.
const sweep = 8

// steppingApp is an app that compacts after every turn and in which every call counts as a step.
func steppingApp(t *testing.T, store storages.Storage, m mode, s *steps, heeds bool) *app {
	t.Helper()
	store = store.Anew(t).Wrapped(func(inner session.Service) session.Service { return steppingService{inner, s, heeds} })
	a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) {
		pressures[1].change(cfg)
		oracle := cfg.Summarizer
		cfg.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
			if s.step("summarizer"); heeds && ctx.Err() != nil {
				return summarizer.Result{}, ctx.Err()
			}
			return oracle.Summarize(ctx, req)
		})
	}))
	a.inTool = func() { s.step("tool") }
	a.decorate = func(llm model.LLM) model.LLM { return steppingModel{llm, s, heeds} }
	return a
}
