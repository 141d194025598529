package difference_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/record"
)

// policy is how the wrapped play compacts.
type policy struct {
	change  func(*compaction.Config)
	between func(t testing.TB, svc *compaction.CompactionSessionService, n int)
	layers  bool // all that are on by default, not compaction alone
	// shortens means that requests may show the beginning and the end of what was said.
	shortens bool
	// restarts means that another process goes on with the session after every second turn, unless there are layers.
	restarts bool
}

// wrap puts compaction over a storage, or all layers.
func (with policy) wrap(t testing.TB, inner session.Service) (*longsession.Stack, *compaction.CompactionSessionService) {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = &compactiontest.Oracle{}, true
	if with.change != nil {
		with.change(&cfg)
	}
	if with.layers {
		stack, err := longsession.New(inner, longsession.Config{Compaction: cfg})
		if err != nil {
			t.Fatal(err)
		}
		return stack, stack.Sessions
	}
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return nil, svc
}

var ref = compaction.SessionRef{AppName: appName, UserID: userID, SessionID: sessionID}

// differs plays an app bare and wrapped, and returns the first differences, "" if there are none, and how many summaries
// were stored.
func (a app) differs(t testing.TB, store storages.Storage, with policy) (string, int) {
	t.Helper()
	diff, events := a.compare(t, store, with)
	summaries := 0
	for _, ev := range events {
		if record.Is(ev) {
			summaries++
		}
	}
	return diff, summaries
}

// compare plays an app bare and wrapped, and returns the first differences, and all that is stored of the wrapped play.
func (a app) compare(t testing.TB, store storages.Storage, with policy) (string, []*session.Event) {
	t.Helper()
	service := store.Anew(t).Open(t)
	bare := a.play(t, service, service, nil)
	inner := store.Anew(t).Open(t)
	stack, svc := with.wrap(t, inner)
	current := &process{svc}
	wrapped := a.playIn(t, stack, inner, current, func(n int) {
		if with.between != nil {
			with.between(t, svc, n)
		}
		if with.restarts && !with.layers && n%2 == 1 {
			if err := svc.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, svc = with.wrap(t, inner)
			current.Service = svc
		}
	})
	if err := svc.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	events := stored(t, inner)
	diff := strings.Join(append(difference("what happened", bare.lines, wrapped.lines), difference("what is stored", bare.stored, wrapped.stored)...), "\n")
	facts := 0
	if diff == "" && !a.disordered() && !with.shortens {
		var lacks []string
		lacks, facts = lacking(bare.requests, wrapped.requests)
		diff = strings.Join(lacks, "\n")
	}
	switch {
	case diff == "":
		compared.add(a, bare, facts, len(events)-len(wrapped.stored))
	case a.disordered() && a.isUndecided(t, store, bare):
		compared.leaveOut()
		diff = ""
	}
	return diff, events
}

// process is the session service of the process that serves a session now.
type process struct{ session.Service }

// isUndecided reports whether ADK itself does not do the same with an app each time. For example, which of two agents in
// parallel spoke last decides who answers the next message.
func (a app) isUndecided(t testing.TB, store storages.Storage, bare *played) bool {
	t.Helper()
	for range 50 {
		service := store.Anew(t).Open(t)
		if again := a.play(t, service, service, nil); !slices.Equal(again.lines, bare.lines) || !slices.Equal(again.stored, bare.stored) {
			return true
		}
	}
	return false
}

// lacking lists the requests that lack a fact which they have bare, and returns how many facts it looked for.
func lacking(bare, wrapped map[string]string) (out []string, all int) {
	for _, of := range slices.Sorted(maps.Keys(bare)) {
		facts := compactiontest.Facts(bare[of])
		all += len(facts)
		facts = slices.DeleteFunc(facts, func(fact string) bool { return strings.Contains(wrapped[of], fact) })
		if len(facts) > 0 {
			out = append(out, fmt.Sprintf("%s lacks %v:\n\tbare\n\t\t%s\n\twrapped\n\t\t%s", of, facts, bare[of], wrapped[of]))
		}
	}
	return out, all
}

// difference lists where two plays part.
func difference(what string, bare, wrapped []string) []string {
	if slices.Equal(bare, wrapped) {
		return nil
	}
	k := 0
	for k < min(len(bare), len(wrapped)) && bare[k] == wrapped[k] {
		k++
	}
	part := func(lines []string) string {
		return "\n\t\t" + strings.Join(lines[max(0, k-3):min(len(lines), k+4)], "\n\t\t")
	}
	return []string{fmt.Sprintf("%s differs from line %d on (%d lines bare, %d wrapped):\n\tbare%s\n\twrapped%s", what, k, len(bare), len(wrapped), part(bare), part(wrapped))}
}

// agree fails the test if wrapped differs from bare, or if nothing was ever summarized.
func (a app) agree(t *testing.T, store storages.Storage, with policy) {
	t.Helper()
	diff, n := a.differs(t, store, with)
	if diff != "" {
		t.Error(diff)
	}
	if with.change != nil && n == 0 {
		t.Error("nothing was summarized, so the test proves nothing")
	}
}

// early compacts whenever a prompt has a few hundred tokens.
func early(cfg *compaction.Config) {
	cfg.TokenThreshold, cfg.RetainEvents, cfg.OverlapSize = 600, 2, 1
}

func background(cfg *compaction.Config) { early(cfg); cfg.Synchronous = false }

func repeat(n int, s step) []step { return slices.Repeat([]step{s}, n) }

func calls(names ...string) step { return step{calls: names} }

var says = step{words: 30}

func chat(n int) []turn { return slices.Repeat([]turn{{say: "And then?"}}, n) }

func steps(parts ...[]step) []step { return slices.Concat(parts...) }

// TestOneApprovalRunsTheToolOnce: a turn opened by an approval runs the tool, goes to another agent and back, and
// is compacted while it goes on.
func TestOneApprovalRunsTheToolOnce(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		for _, mode := range []struct {
			name   string
			change func(*compaction.Config)
		}{{"synchronous", early}, {"background", background}} {
			for _, before := range []int{0, 3} {
				t.Run(fmt.Sprintf("%s/%s/%d turns before", store.Name, mode.name, before), func(t *testing.T) {
					t.Parallel()
					root := &node{name: "root", kind: llm, plan: steps(repeat(before, says),
						[]step{calls("refund"), calls("transfer:sub")}, repeat(20, calls("lookup")), []step{says})}
					sub := &node{name: "sub", kind: llm, plan: steps(repeat(3, calls("lookup")), []step{calls("transfer:root")})}
					root.children = []*node{sub}
					a := app{root: root, turns: slices.Concat(chat(before+1), []turn{{answers: []int{0}}}, chat(3))}
					a.agree(t, store, policy{change: mode.change})
				})
			}
		}
	}
}

// TestOneApprovalRunsTheToolOnceInAnyWindow: the same, where nothing but the window makes a compaction due.
func TestOneApprovalRunsTheToolOnceInAnyWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []int{8_000, 16_000} {
		if window > 8_000 && testkit.Brief() {
			continue
		}
		for _, synchronous := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d/synchronous %t", window, synchronous), func(t *testing.T) {
				t.Parallel()
				work := repeat(window/400, calls("lookup", "lookup", "lookup", "lookup"))
				root := &node{name: "root", kind: llm, plan: steps([]step{calls("refund")}, work, []step{calls("transfer:sub")}, work, []step{says})}
				sub := &node{name: "sub", kind: llm, plan: steps(repeat(3, calls("lookup")), []step{calls("transfer:root")})}
				root.children = []*node{sub}
				a := app{root: root, turns: slices.Concat(chat(1), []turn{{answers: []int{0}}}, chat(1))}
				a.agree(t, storages.InMemory(), policy{change: func(cfg *compaction.Config) { cfg.ContextWindow, cfg.Synchronous = window, synchronous }})
			})
		}
	}
}

// TestAnApprovalWithALargePayloadIsNoRejection: ADK reads the answer in the session, so it is never shown shortened.
func TestAnApprovalWithALargePayloadIsNoRejection(t *testing.T) {
	t.Parallel()
	for _, payload := range []int{10, 100, 400} {
		root := &node{name: "root", kind: llm, plan: steps(repeat(3, says), []step{calls("lookup", "refund")}, repeat(3, says))}
		a := app{root: root, turns: slices.Concat(chat(4), []turn{{answers: []int{0}, fresh: true, payload: payload}}, chat(3))}
		diff, _ := a.differs(t, storages.InMemory(), policy{change: func(cfg *compaction.Config) { cfg.ContextWindow, cfg.Synchronous = 1_000, true }})
		if diff != "" {
			t.Errorf("a payload of %d sentences: %s", payload, diff)
		}
	}
}

// TestAnAppWithARecallOfItsOwnRunsIt: every layer is on, and each agent goes on to run the app's tool of that name, before
// the first summary and behind.
func TestAnAppWithARecallOfItsOwnRunsIt(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			sub := &node{name: "sub", kind: llm, plan: steps([]step{calls("recall")}, repeat(8, says), []step{calls("recall", "lookup"), calls("transfer:root")})}
			root := &node{name: "root", kind: llm, children: []*node{sub}, plan: steps([]step{calls("recall")}, repeat(12, says), []step{calls("recall"), calls("transfer:sub")})}
			a := app{root: root, recalls: true, turns: chat(40)}
			a.agree(t, store, policy{change: early, layers: true})
		})
	}
}

// TestALateAnswerWhoseTurnDiesSendsNoMessageElsewhere: the model fails when the answer to a worker's call has been
// stored. The next message goes where bare ADK sends it.
func TestALateAnswerWhoseTurnDiesSendsNoMessageElsewhere(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		for _, between := range []int{0, 1, 3, 12} {
			for _, with := range []policy{{}, {change: early}} {
				t.Run(fmt.Sprintf("%s/%d turns/compacts %t", store.Name, between, with.change != nil), func(t *testing.T) {
					t.Parallel()
					worker := &node{name: "worker", kind: llm, plan: []step{calls("order"), calls("transfer:root"), {fail: true}}}
					root := &node{name: "root", kind: llm, plan: []step{calls("transfer:worker")}, children: []*node{worker}}
					a := app{root: root, turns: slices.Concat(chat(1+between), []turn{{answers: []int{0}}}, chat(4))}
					if diff, _ := a.differs(t, store, with); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// orders are the apps of one model response with a call that takes long and one that needs a confirmation, answered
// in every order and with every number of turns between.
func orders(none bool) (out []app, names []string) {
	for _, called := range [][]string{{"order", "refund"}, {"refund", "order"}} {
		for _, first := range []int{0, 1} {
			for _, gap := range []int{0, 1, 3} {
				for _, between := range []int{0, 2, 7} {
					for _, deny := range []bool{false, true} {
						for _, rounds := range []int{0, 3} {
							plan := steps([]step{calls(called...)}, repeat(1+gap, says), repeat(rounds, calls("lookup")), repeat(1+between, says), repeat(rounds, calls("lookup")))
							root := &node{name: "root", kind: llm, none: none, plan: plan}
							turns := slices.Concat(chat(1+gap), []turn{{answers: []int{first}, fresh: true, deny: deny}}, chat(between), []turn{{answers: []int{0}, fresh: true, deny: deny}}, chat(2))
							out = append(out, app{root: root, turns: turns})
							names = append(names, fmt.Sprintf("none %t, %v, first %d, gap %d, between %d, deny %t, rounds %d", none, called, first, gap, between, deny, rounds))
						}
					}
				}
			}
		}
	}
	return out, names
}

// TestParallelAnswersInAnyOrderFailNoTurn compares 288 orders in which a call that takes long and one that needs a
// confirmation are answered.
func TestParallelAnswersInAnyOrderFailNoTurn(t *testing.T) {
	t.Parallel()
	for _, none := range []bool{false, true} {
		for _, with := range []policy{{}, {change: early}} {
			t.Run(fmt.Sprintf("none %t, compacts %t", none, with.change != nil), func(t *testing.T) {
				t.Parallel()
				apps, names := orders(none)
				different, summaries := 0, 0
				for i, a := range apps {
					diff, n := a.differs(t, storages.InMemory(), with)
					summaries += n
					if diff != "" {
						if different++; different == 1 {
							t.Errorf("%s:\n%s", names[i], diff)
						}
					}
				}
				if different > 0 {
					t.Errorf("%d of %d orders differ from bare ADK", different, len(apps))
				}
				if with.change != nil && summaries == 0 {
					t.Error("nothing was summarized")
				}
			})
		}
	}
}

// TestAConsumerThatStopsAtAToolsResultBringsNothingDown: the consumer of a run breaks off at each event of the turn
// that an approval opens, as a server does whose client has left.
func TestAConsumerThatStopsAtAToolsResultBringsNothingDown(t *testing.T) {
	t.Parallel()
	for _, none := range []bool{false, true} {
		for stop := 1; stop <= 3; stop++ {
			root := &node{name: "root", kind: llm, none: none, plan: []step{calls("order", "refund"), says, says, calls("lookup"), says}}
			a := app{root: root, turns: slices.Concat(chat(1), []turn{{answers: []int{1}, fresh: true}, {answers: []int{0}, fresh: true, stop: stop}}, chat(2))}
			if diff, _ := a.differs(t, storages.InMemory(), policy{}); diff != "" {
				t.Errorf("none %t, stop %d: %s", none, stop, diff)
			}
		}
	}
}

// TestAnAgentThatNobodySpeaksToKnowsWhatItHasDone: an app runs an agent again and again without a message. A prompt
// without earlier turns begins at the newest words of somebody else, so a summary in front of them is lost to it.
func TestAnAgentThatNobodySpeaksToKnowsWhatItHasDone(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]policy{
		"by tokens": {change: early},
		"by turns": {change: func(cfg *compaction.Config) {
			cfg.InvocationThreshold, cfg.OverlapSize, cfg.TokenThreshold, cfg.MaxSummaries = 2, 1, 50_000, 2
		}},
		"by hand": {
			change: func(cfg *compaction.Config) { cfg.InvocationThreshold = compaction.Off },
			between: func(t testing.TB, svc *compaction.CompactionSessionService, _ int) {
				if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 1}); err != nil {
					t.Error(err)
				}
			},
		},
	} {
		for _, store := range storages.All(t) {
			for _, none := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/none %t", store.Name, name, none), func(t *testing.T) {
					t.Parallel()
					root := &node{name: "root", kind: llm, none: none, plan: slices.Concat(slices.Repeat([]step{says, calls("lookup"), says}, 8), repeat(8, says))}
					a := app{turns: slices.Concat(chat(3), slices.Repeat([]turn{{nothing: true}}, 20), chat(2))}
					a.make = func(p *player) agent.Agent { return p.build(root) }
					a.agree(t, store, with)
				})
			}
		}
	}
}

// TestAnswersOfAWorkerSendNoMessageElsewhere: a worker below a sequential agent starts eight calls that take long, which
// are answered one per turn. Nobody can transfer to the worker, so the next message goes to the assistant.
func TestAnswersOfAWorkerSendNoMessageElsewhere(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			worker := &node{name: "worker", kind: llm, plan: []step{calls(slices.Repeat([]string{"order"}, 8)...)}}
			flow := &node{name: "flow", kind: sequential, children: []*node{worker}}
			assistant := &node{name: "assistant", kind: llm, plan: []step{calls("transfer:flow")}, children: []*node{flow}}
			root := &node{name: "root", kind: llm, plan: []step{calls("transfer:assistant")}, children: []*node{assistant}}
			var answers []turn
			for range 8 {
				answers = append(answers, turn{answers: []int{0}, fresh: true})
			}
			a := app{root: root, turns: slices.Concat(chat(1), answers, chat(3))}
			a.agree(t, store, policy{change: func(cfg *compaction.Config) { early(cfg); cfg.InvocationThreshold = 2 }, between: func(t testing.TB, svc *compaction.CompactionSessionService, _ int) {
				_, _ = svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 1})
			}})
		})
	}
}
