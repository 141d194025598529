package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// Two users of one session talk at the same time. ADK's database service rejects an append through
// a handle that missed another append. The turn is then repeated, as an app without the service
// would do. Every acknowledged event must be stored once and stay visible.
func TestTwoRunsOnOneSessionLoseNothing(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, background}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, unchecked, unordered)
		llm := compactiontest.NewModel("parrot", func(_ int, req *model.LLMRequest) *model.LLMResponse {
			last := req.Contents[len(req.Contents)-1]
			if len(requests.Responses(last)) > 0 {
				return answer()
			}
			return a.lookups(1)
		})
		root, err := llmagent.New(llmagent.Config{Name: "assistant", Model: llm, Tools: []tool.Tool{a.lookup()}})
		if err != nil {
			t.Fatal(err)
		}
		a.start(root)
		var mu sync.Mutex
		var yielded []*session.Event
		var work sync.WaitGroup
		for user := range 2 {
			work.Go(func() {
				for turn := 0; turn < m.turns(store, 30); {
					question := fmt.Sprintf("User %d asks in turn %d about %s, as we do all the time.", user, turn, compactiontest.Fact(a.ledger.number()))
					events, err := runTurn(t, a.runner, question)
					mu.Lock()
					yielded = append(yielded, events...)
					mu.Unlock()
					switch {
					case err == nil:
						turn++
					case store.Name == "database" && strings.Contains(err.Error(), "stale session"):
						// Two handles were used at once; see TestPinDatabaseRefusesAStaleHandle.
					default:
						t.Errorf("user %d, turn %d: %v", user, turn, err)
						return
					}
				}
			})
		}
		work.Wait()
		a.flush()
		a.checkAcknowledged(yielded)
	})
}

func runTurn(t *testing.T, r *runner.Runner, question string) ([]*session.Event, error) {
	var events []*session.Event
	for ev, err := range r.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// checkAcknowledged checks that every event that a runner yielded is stored once, and that the view
// is valid and has every stored fact.
func (a *app) checkAcknowledged(yielded []*session.Event) {
	a.t.Helper()
	raw := a.raw()
	ids := map[string]int{}
	for _, ev := range raw {
		ids[ev.ID]++
	}
	for _, ev := range yielded {
		if ids[ev.ID] != 1 {
			a.t.Errorf("event %s was acknowledged and is stored %d times", ev.ID, ids[ev.ID])
		}
	}
	view := a.view()
	var seen []string
	for _, ev := range view {
		seen = append(seen, histories.FactsIn(ev)...)
	}
	for _, ev := range withoutRecords(raw) {
		for _, fact := range histories.FactsIn(ev) {
			if !slices.Contains(seen, fact) {
				a.t.Errorf("%s is stored but not in the view", fact)
			}
		}
	}
	checkView(a.t, raw, view)
	least := 3
	if a.mode == background {
		least = 1 // on a busy machine one job may do the work of several
	}
	if n := len(a.log.of(compaction.Stored)); n < least {
		a.t.Errorf("only %d compactions:\n%s", n, a.log)
	}
}

// While turns run, other goroutines read the session, query its status, flush it and compact it. No
// turn may fail, on any backend.
func TestEverythingElseAtOnceMakesNoTurnFail(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, background}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		done := make(chan struct{})
		var work sync.WaitGroup
		for _, meddle := range []func() error{
			func() error {
				_, err := a.svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 1})
				return err
			},
			func() error { _, err := a.svc.Status(t.Context(), ref); return err },
			func() error { return a.svc.Flush(t.Context(), ref) },
			func() error {
				resp, err := a.svc.Get(t.Context(), getRequest())
				if err == nil {
					_ = canonical(eventsOf(resp.Session))
				}
				return err
			},
		} {
			work.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if err := meddle(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for i := range m.turns(store, 24) {
			if i%2 == 0 {
				x.will(a.lookups(2))
			}
			a.chat(x, 1)
		}
		close(done)
		work.Wait()
		a.verify(2)
	})
}

// A tool's own call is open while the tool runs.
func TestACompactionOutOfAToolIsHarmless(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m, withConfig(func(cfg *compaction.Config) { cfg.InvocationThreshold = compaction.Off }))
		x := newActor(a, "assistant", "")
		a.inTool = func() { a.compactAll() }
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		for range 10 {
			x.will(a.lookups(1), a.lookups(1))
			a.chat(x, 1)
		}
		a.verify(5)
	})
}
