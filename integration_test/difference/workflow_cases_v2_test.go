//go:build ignore

package difference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/workflowagent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/workflow"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// eager summarizes all that it may, after every turn and in the middle of turns.
func eager(cfg *compaction.Config) {
	cfg.TokenThreshold, cfg.RetainEvents, cfg.InvocationThreshold, cfg.OverlapSize, cfg.MaxSummaries = 150, 1, 1, 1, 2
}

// byHand summarizes what is left after a turn.
func byHand(t testing.TB, svc *compaction.CompactionSessionService, _ int) {
	_, _ = svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 1})
}

// agreeAnyway fails the test if an app does otherwise over any storage, with or without the layers, or if no call waited
// while a summary was stored. Bare ADK must have done what lines say.
func (a app) agreeAnyway(t *testing.T, pauses bool, lines ...string) {
	t.Helper()
	service := storages.InMemory().Open(t)
	bare := a.play(t, service, service, nil)
	for _, line := range lines {
		if !slices.ContainsFunc(bare.lines, func(has string) bool { return len(has) >= len(line) && has[:len(line)] == line }) {
			t.Errorf("bare ADK does not do this: %s\n%q", line, bare.lines)
		}
	}
	for _, store := range storages.All(t) {
		for _, layers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/layers %t", store.Name, layers), func(t *testing.T) {
				t.Parallel()
				diff, events := a.compare(t, store, policy{change: eager, layers: layers, between: byHand})
				if diff != "" {
					t.Error(diff)
				}
				if pauses && summarizedPauses(events) == 0 {
					t.Error("no call waited while a summary was stored, so the test proves nothing")
				}
			})
		}
	}
}

func work(name string) *part { return &part{kind: "work", name: name} }

// writer is an agent of a workflow that writes in every run.
func writer() *part { return &part{kind: "agent", name: "writer"} }

// answersOldest answers the oldest of n calls.
func answersOldest(n int) []turn { return []turn{{answers: []int{n - 1}, fresh: true}} }

// TestAPausedRunKeepsWhatItsNodesHavePutOut: ReconstructRunState in workflow/persistence.go reads the events of the paused
// invocation, among them those that have an output and no content.
func TestAPausedRunKeepsWhatItsNodesHavePutOut(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"ask", "ask again"} {
		t.Run(asks, func(t *testing.T) {
			t.Parallel()
			a := flow(slices.Concat(chat(7), answersOldest(1), chat(1)), writer(), work("first"), &part{kind: asks, name: "asker", once: true, schema: true}, work("last"))
			a.agreeAnyway(t, true, "node last runs on ")
		})
	}
}

// TestARunWithoutAMessageGoesOn: an app may start a workflow without a message, for example at night.
func TestARunWithoutAMessageGoesOn(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"ask", "ask again"} {
		t.Run(asks, func(t *testing.T) {
			t.Parallel()
			waits := &part{kind: "dynamic", name: "dynamic", parts: []*part{work("child"), {kind: "ask again", name: "other", once: true}}}
			a := flow(slices.Concat([]turn{{nothing: true}}, chat(5), answersOldest(1), chat(3), answersOldest(1), chat(1)), work("first"), &part{kind: asks, name: "asker", once: true}, waits, work("last"))
			a.agreeAnyway(t, true, "node other has ")
		})
	}
}

// TestARefusedAnswerCanBeGivenAgain: Resume in workflow/resume.go refuses an answer that does not match the schema. The node
// waits on, and the user gives the right answer many turns later. An answer that comes along with one for another run does
// not reach its node.
func TestARefusedAnswerCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]turn{"refused": {answers: []int{4}, deny: true}, "for another run": {answers: []int{3, 4}}} {
		for _, asks := range []string{"ask", "ask again"} {
			t.Run(name+"/"+asks, func(t *testing.T) {
				t.Parallel()
				a := flow(slices.Concat(chat(5), []turn{first}, chat(3), []turn{{answers: []int{7}}}, chat(1)), writer(), work("first"), &part{kind: asks, name: "asker", schema: true}, work("last"))
				a.changes = name == "refused"
				a.agreeAnyway(t, true, "node last runs on ")
			})
		}
	}
}

// TestARunAnsweredTwiceGoesOnOnce: an answer that comes again at once belongs to the run that it has ended.
func TestARunAnsweredTwiceGoesOnOnce(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"ask", "ask again"} {
		t.Run(asks, func(t *testing.T) {
			t.Parallel()
			a := flow(slices.Concat(chat(4), answersOldest(1), []turn{{answers: []int{0}}}, chat(1)), writer(), work("first"), &part{kind: asks, name: "asker", once: true}, work("last"))
			a.agreeAnyway(t, true, "node last runs on ")
		})
	}
}

// TestAWaitingCallIsNotTakenForAnswered: openLongRunningCallIDs in runner/run_node.go takes a call with any response for
// answered, and answeredOpenInterrupts in runner/agent_node.go then takes every turn for the answer.
func TestAWaitingCallIsNotTakenForAnswered(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"wait", "order", "refund"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			root := &node{name: "root", kind: llm, plan: steps([]step{says, calls(tool, "wait"), calls("lookup")}, repeat(8, says))}
			a := team(root, nil, slices.Concat(chat(6), answersOldest(2), chat(2), answersOldest(1), chat(1)))
			a.agreeAnyway(t, true, "root runs wait(")
		})
	}
}

// TestATaskIsGoneOnWithAfterManyTurns: findUnresolvedTaskDelegations in agent/llmagent/llm_agent_wrapper.go goes on with
// every delegation that has no response. A task asks the user again and again, and is finished in the end.
func TestATaskIsGoneOnWithAfterManyTurns(t *testing.T) {
	t.Parallel()
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("two at once %t", both), func(t *testing.T) {
			t.Parallel()
			worker := &node{name: "worker", kind: llm, mode: "task", plan: steps([]step{calls("lookup"), says, calls("refund")}, repeat(6, says), []step{calls("finish")})}
			other := &node{name: "other", kind: llm, mode: "task", plan: steps(repeat(3, says), []step{calls("finish")})}
			delegates := calls("delegate:worker")
			if both {
				delegates = calls("delegate:worker", "delegate:other")
			}
			root := &node{name: "root", kind: llm, plan: steps(repeat(3, says), []step{delegates}), children: []*node{worker, other}}
			team(root, nil, slices.Concat(chat(8), answersOldest(1), chat(8))).agreeAnyway(t, true, "asks worker for the 9th time")
		})
	}
}

// TestATaskIsGoneOnWithAfterAFailure: the model of a task fails before the task has an event, when the earlier tasks of its
// agent are summarized. The next message goes on with it.
func TestATaskIsGoneOnWithAfterAFailure(t *testing.T) {
	t.Parallel()
	for _, between := range []int{0, 8} {
		t.Run(fmt.Sprintf("%d turns between", between), func(t *testing.T) {
			t.Parallel()
			worker := &node{name: "worker", kind: llm, mode: "task", plan: steps([]step{says, calls("lookup"), calls("finish"), {fail: true}}, repeat(2, says), []step{calls("finish")})}
			root := &node{name: "root", kind: llm, plan: steps(repeat(2, says), []step{calls("delegate:worker")}, repeat(between, says), []step{calls("delegate:worker")}), children: []*node{worker}}
			team(root, nil, chat(10+between)).agreeAnyway(t, false, "asks worker for the 5th time")
		})
	}
}

// TestAFinishedTaskGetsNoMessage: findActiveTaskIsolationScope in runner/runner.go sends the user's messages to the task
// of the newest scope whose end it does not see.
func TestAFinishedTaskGetsNoMessage(t *testing.T) {
	t.Parallel()
	for _, tasks := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d tasks", tasks), func(t *testing.T) {
			t.Parallel()
			worker := &node{name: "worker", kind: llm, mode: "task", plan: slices.Concat(slices.Repeat([]step{says, calls("lookup"), calls("lookup"), calls("finish")}, tasks))}
			root := &node{name: "root", kind: llm, plan: steps([]step{says}, slices.Repeat([]step{calls("delegate:worker"), says}, tasks)), children: []*node{worker}}
			team(root, nil, chat(10+2*tasks)).agreeAnyway(t, false, "worker runs lookup(")
		})
	}
}

// TestAChildThatHasRunIsNotRunAgain: rehydrateCache in workflow/dynamic_scheduler.go reads what the children of a dynamic
// node have put out in the paused invocation.
func TestAChildThatHasRunIsNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, options := range [][]string{nil, {"id"}, {"scope"}, {"path", "branch"}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			t.Parallel()
			member := &part{kind: "agent", name: "member", options: options, plan: repeat(20, says)}
			child := &part{kind: "work", name: "child", options: options}
			a := flow(slices.Concat(chat(6), answersOldest(1), chat(4), answersOldest(1), chat(1)),
				writer(), &part{kind: "dynamic", name: "dynamic", parts: []*part{child, member, {kind: "ask again", name: "asker", asks: 2, once: true, options: options}}})
			a.agreeAnyway(t, true, "node dynamic stops at asker")
		})
	}
}

// TestAChildThatHasRunIsNotRunAgainIfANodeSpeaksForTheUser: the event of a node in the user's name is no new message. It comes
// between the answer and the dynamic node, which reads then what its children have put out.
func TestAChildThatHasRunIsNotRunAgainIfANodeSpeaksForTheUser(t *testing.T) {
	t.Parallel()
	waiter := &part{kind: "agent", name: "waiter", plan: []step{calls("order")}}
	a := flow(slices.Concat(chat(6), answersOldest(1), chat(2)), &part{kind: "tells", name: "teller"}, &part{kind: "dynamic", name: "dynamic", parts: []*part{work("child"), waiter}})
	a.agreeAnyway(t, true, "node teller tells")
}

// TestALateAnswersRequestKeepsWhatWasSaid: rearrangeEventsForLatestFunctionResponse in
// internal/llminternal/contents_processor.go drops what lies between a call and its answer, if that is neither a call nor
// a response. It must not drop the summary of calls and responses.
func TestALateAnswersRequestKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"order", "wait", "refund"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			expert := &node{name: "expert", kind: llm, mode: "single_turn"}
			rounds := slices.Repeat([]step{calls("delegate:expert"), calls("lookup")}, 3)
			root := &node{name: "root", kind: llm, plan: steps([]step{says, calls(tool), says}, rounds, repeat(2, says), rounds, []step{says}), children: []*node{expert}}
			a := team(root, nil, slices.Concat(chat(6), answersOldest(1), chat(2)))
			a.agreeAnyway(t, true, "asks expert for the 1th time")
		})
	}
}

// TestAnAgentFindsItsTaskInTheMiddleOfItsRun: newWrappedSession in agent/llmagent/llm_agent_wrapper.go puts the task of an
// agent at the position at which the session ended when the agent began, also when a summary has replaced events before
// it.
func TestAnAgentFindsItsTaskInTheMiddleOfItsRun(t *testing.T) {
	t.Parallel()
	rounds := repeat(60, calls("lookup"))
	for i := 9; i < len(rounds); i += 10 {
		rounds[i] = says
	}
	member := &node{name: "member", kind: llm, mode: "single_turn", plan: rounds}
	root := &node{name: "root", kind: llm, plan: slices.Repeat([]step{calls("delegate:member"), calls("lookup"), says}, 6), children: []*node{member}}
	for name, a := range map[string]app{
		"workflow": flow(chat(6), writer(), &part{kind: "agent", name: "member", plan: rounds}, work("last")),
		"team":     team(root, nil, chat(6)),
	} {
		for _, retain := range []int{1, 2, 4, 6} {
			t.Run(fmt.Sprintf("%s/retain %d", name, retain), func(t *testing.T) {
				t.Parallel()
				a.agree(t, storages.InMemory(), policy{change: func(cfg *compaction.Config) {
					cfg.TokenThreshold, cfg.RetainEvents, cfg.InvocationThreshold = 700, retain, compaction.Off
				}})
			})
		}
	}
}

// TestAMergePutsNoRoundsInFrontOfTheirTask: between two requests of an agent, two summaries in front of its task become one,
// and its own rounds are summarized. That summary stays behind the task.
func TestAMergePutsNoRoundsInFrontOfTheirTask(t *testing.T) {
	t.Parallel()
	rounds := []step{calls("delegate:nobody"), calls("lookup"), calls("lookup", "delegate:nobody"), says} // calls of no tool have facts
	member := &part{kind: "agent", name: "member", plan: slices.Repeat(rounds, 6)}
	a := flow(chat(6), member, work("last"))
	a.agreeAnyway(t, false, "asks member for the 23th time")
}

// TestAnAgentThatRunsTwiceFindsTheRoundsOfItsSecondRun: nobody else writes between the runs, so one summary stands for the
// rounds of both.
func TestAnAgentThatRunsTwiceFindsTheRoundsOfItsSecondRun(t *testing.T) {
	t.Parallel()
	rounds := []step{calls("delegate:nobody"), calls("lookup"), calls("lookup", "delegate:nobody"), says}
	a := app{turns: chat(3), make: func(p *player) agent.Agent {
		member := p.node(&part{kind: "agent", name: "member", plan: slices.Repeat(rounds, 6)})
		twice := workflow.NewDynamicNode("twice", func(ctx agent.Context, _ any, _ func(*session.Event) error) (any, error) {
			if _, err := workflow.RunNode[any](ctx, member, any("Do this.")); err != nil {
				return nil, err
			}
			return workflow.RunNode[any](ctx, member, any("And now that."))
		}, workflow.NodeConfig{})
		made, err := workflowagent.New(workflowagent.Config{Name: "flow", Edges: []workflow.Edge{{From: workflow.Start, To: twice}}})
		if err != nil {
			p.t.Fatal(err)
		}
		return made
	}}
	a.agreeAnyway(t, false, "asks member for the 23th time")
}

// TestAScopeIntoWhichOneAgentWritesShowsAllItsSummaries: buildContentsCurrentTurnContextOnly in
// internal/llminternal/contents_processor.go begins the prompt of a node at the last event that the user or another agent
// has written in its scope.
func TestAScopeIntoWhichOneAgentWritesShowsAllItsSummaries(t *testing.T) {
	t.Parallel()
	member := &part{kind: "agent", name: "member", options: []string{"id", "scope"}, plan: []step{{words: 11}, calls("lookup"), {words: 100}, calls("lookup"), calls("order"), calls("lookup"), {words: 12}, {words: 21, fail: true}, calls("order", "order"), calls("lookup"), calls("lookup")}}
	closer := &part{kind: "agent", name: "closer", plan: []step{calls("order")}} // ADK puts what the user says into its scope
	inner := &part{kind: "dynamic", name: "inner", parts: []*part{member, closer}, options: []string{"path"}}
	asks := &part{kind: "dynamic", name: "asks", parts: []*part{{kind: "ask again", name: "asker", once: true, asks: 2, schema: true, options: []string{"id", "output"}}}}
	a := flow(chat(13), asks, &part{kind: "dynamic", name: "outer", parts: []*part{inner}}, work("last"))
	for _, layers := range []bool{false, true} {
		a.agree(t, storages.InMemory(), policy{change: eager, layers: layers})
	}
}

// TestASummaryOfRoundsMovesNothingBehindATask: what lies behind an agent's task decides which tools run. Here it is a
// confirmation in a scope that the agent does not see.
func TestASummaryOfRoundsMovesNothingBehindATask(t *testing.T) {
	t.Parallel()
	rounds := []step{calls("order"), calls("lookup"), calls("order"), calls("lookup")}
	member := &part{kind: "agent", name: "member", plan: steps([]step{calls("wait", "refund"), says, calls("wait")}, rounds, rounds)}
	inner := &part{kind: "dynamic", name: "inner", options: []string{"id"}, parts: []*part{{kind: "ask again", name: "asker", once: true}, member}}
	first := work("first")
	first.options = []string{"path"}
	a := flow(slices.Concat(chat(4), []turn{{answers: []int{1}, fresh: true}}, chat(4)), &part{kind: "dynamic", name: "outer", parts: []*part{first, inner}})
	a.agreeAnyway(t, false, "member runs wait(")
}

// TestANodeThatGoesOnIsGivenWhatItIsGivenBare: ReconstructRunState in workflow/persistence.go reads the user's message,
// the texts of agents and the results of calls that take long. They are larger than the window, or than what is shown of a
// result, and must reach the nodes whole, also if others write between the answer and the workflow.
func TestANodeThatGoesOnIsGivenWhatItIsGivenBare(t *testing.T) {
	t.Parallel()
	both := []turn{{answers: []int{0, 1}, fresh: true, payload: 2_000}}
	for _, asks := range []string{"ask", "ask again"} {
		asker := &part{kind: asks, name: "asker", once: true}
		waiter := &part{kind: "agent", name: "waiter", plan: []step{calls("order")}}
		for name, of := range map[string]struct {
			turns []turn
			parts []*part
		}{
			"a message": {slices.Concat([]turn{{say: strings.Repeat("A line of the plan. ", 2_000)}}, chat(2), answersOldest(1), chat(1)), []*part{asker, work("last")}},
			"a text":    {slices.Concat(chat(3), answersOldest(1), chat(1)), []*part{{kind: "agent", name: "writer", plan: repeat(5, step{words: 9_000})}, asker, work("last")}},
			"a result":  {slices.Concat(chat(1), both, chat(1)), []*part{{kind: "fan", name: "fan", parts: []*part{waiter, asker}}, work("last")}},
		} {
			alone := flow(of.turns, of.parts...)
			changes := alone
			changes.changes = true
			behind := alone
			behind.make = func(p *player) agent.Agent {
				return p.sequence("both", p.build(&node{name: "first", kind: llm}), p.workflow("flow", of.parts))
			}
			twice := alone
			twice.make = func(p *player) agent.Agent {
				return p.sequence("both", p.workflow("before", []*part{work("first"), {kind: "tells", name: "teller"}}), p.workflow("flow", of.parts))
			}
			below := team(&node{name: "root", kind: llm, plan: repeat(20, calls("transfer:flow")), children: []*node{{name: "flow"}}}, map[string][]*part{"flow": of.parts}, of.turns)
			below.shuffled = alone.shuffled
			for where, a := range map[string]app{"alone": alone, "with a callback": changes, "behind an agent": behind, "behind a workflow": twice, "below an agent": below} {
				for _, layers := range []bool{false, true} {
					if layers && name == "a message" && strings.HasSuffix(where, "an agent") {
						continue // that fits no prompt of the agent
					}
					t.Run(fmt.Sprintf("%s/%s/%s/layers %t", asks, name, where, layers), func(t *testing.T) {
						t.Parallel()
						diff, _ := a.compare(t, storages.InMemory(), policy{layers: layers, change: func(cfg *compaction.Config) { cfg.ContextWindow, cfg.MaxOutputTokens = 3_000, compaction.Off }})
						if diff != "" {
							t.Error(diff[:min(len(diff), 2_000)])
						}
					})
				}
			}
		}
	}
}

// TestAPausedWorkflowGoesOnInAnotherStorage: while two runs wait, their session is copied into another storage.
func TestAPausedWorkflowGoesOnInAnotherStorage(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"ask", "ask again"} {
		a := flow(slices.Concat(chat(5), []turn{{answers: []int{3}, fresh: true}, {answers: []int{0, 1}, fresh: true}}, chat(1)),
			writer(), work("first"), &part{kind: asks, name: "asker", schema: true}, &part{kind: "dynamic", name: "dynamic", parts: []*part{work("child"), {kind: "ask again", name: "other"}}}, work("last"))
		for _, from := range storages.All(t) {
			for _, to := range storages.All(t) {
				t.Run(fmt.Sprintf("%s/%s to %s", asks, from.Name, to.Name), func(t *testing.T) {
					t.Parallel()
					moves := func(with policy) *played {
						inner := &process{from.Anew(t).Open(t)}
						wrapped := &process{inner}
						var svc *compaction.CompactionSessionService
						if with.change != nil {
							_, svc = with.wrap(t, inner.Service)
							wrapped.Service = svc
						}
						return a.play(t, inner, wrapped, func(n int) {
							if svc != nil {
								byHand(t, svc, n)
							}
							if n != 4 {
								return
							}
							inner.Service = copied(t, inner.Service, to.Anew(t).Open(t))
							if svc != nil {
								_, svc = with.wrap(t, inner.Service)
								wrapped.Service = svc
							}
						})
					}
					bare, wrapped := moves(policy{}), moves(policy{change: eager})
					diff := append(difference("what happened", bare.lines, wrapped.lines), difference("what is stored", bare.stored, wrapped.stored)...)
					lacks, _ := lacking(bare.requests, wrapped.requests)
					if diff = append(diff, lacks...); len(diff) > 0 {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// copied copies a session into another storage, records included.
func copied(t testing.TB, from, to session.Service) session.Service {
	created, err := to.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: sessionID})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range stored(t, from) {
		if err := to.AppendEvent(t.Context(), created.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestATaskThatGoesOnIsGivenWhatItIsGivenBare: findUnresolvedTaskDelegations in agent/llmagent/llm_agent_wrapper.go reads
// what a task is given in the call that delegates it, again with every message. Here that is larger than the window.
func TestATaskThatGoesOnIsGivenWhatItIsGivenBare(t *testing.T) {
	t.Parallel()
	worker := &node{name: "worker", kind: llm, mode: "task", plan: steps(repeat(2, says), []step{calls("wait"), calls("finish")})}
	root := &node{name: "root", kind: llm, plan: []step{says, {calls: []string{"delegate:worker"}, words: 9_000}}, children: []*node{worker}}
	a := team(root, nil, slices.Concat(chat(4), answersOldest(1), chat(2)))
	diff, _ := a.compare(t, storages.InMemory(), policy{shortens: true, change: func(cfg *compaction.Config) { cfg.ContextWindow, cfg.MaxOutputTokens = 3_000, compaction.Off }})
	if diff != "" {
		t.Error(diff[:min(len(diff), 2_000)])
	}
}

// TestALoopDoesNotFillTheView: of the outputs of a node that runs again and again, ADK reads the newest.
func TestALoopDoesNotFillTheView(t *testing.T) {
	t.Parallel()
	member := &part{kind: "agent", name: "member", plan: repeat(100, says)}
	for _, asks := range []string{"ask", "ask again"} {
		a := flow(slices.Concat(chat(4), answersOldest(1), chat(1)), &part{kind: "loop", name: "again", times: 40, parts: []*part{member}}, &part{kind: asks, name: "asker", once: true}, work("last"))
		diff, _ := a.compare(t, storages.InMemory(), policy{change: eager, between: few(30)})
		if diff != "" {
			t.Error(diff)
		}
	}
}

// few summarizes what is left after a turn. The view may have so many events beside the calls that wait.
func few(most int) func(testing.TB, *compaction.CompactionSessionService, int) {
	return func(t testing.TB, svc *compaction.CompactionSessionService, n int) {
		byHand(t, svc, n)
		resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: sessionID})
		if err != nil {
			t.Fatal(err)
		}
		waiting, shown := 0, 0
		for ev := range resp.Session.Events().All() {
			if shown++; len(ev.LongRunningToolIDs) > 0 {
				waiting++
			}
		}
		if shown > waiting+most {
			t.Errorf("after turn %d, %d events are shown, and %d calls that wait", n, shown-waiting, waiting)
		}
	}
}

// TestManyPausedWorkflowsDoNotFillTheView: of a run that waits, only its call stays as it is stored. What its nodes have put
// out is summarized, and shown again when the user answers, because ReconstructRunState in workflow/persistence.go reads it
// then. Runs of every age are answered, and one that asks twice.
func TestManyPausedWorkflowsDoNotFillTheView(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"ask", "ask again"} {
		for _, store := range storages.All(t) {
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/restarts %t", asks, store.Name, restarts), func(t *testing.T) {
					t.Parallel()
					waits := &part{kind: "dynamic", name: "dynamic", parts: []*part{{kind: "work", name: "child"}, {kind: "agent", name: "member", plan: repeat(60, says)}, {kind: "ask again", name: "other", asks: 2}}}
					a := flow(slices.Concat(chat(16), answersOldest(16), answersOldest(16), chat(1), answersOldest(9), answersOldest(1), chat(3), answersOldest(2), chat(1)),
						writer(), work("first"), work("second"), &part{kind: asks, name: "asker"}, waits, work("last"))
					diff, _ := a.compare(t, store, policy{change: eager, restarts: restarts, between: few(30)})
					if diff != "" {
						t.Error(diff[:min(len(diff), 2_000)])
					}
				})
			}
		}
	}
}

// TestAnswersToLastNodesDoNotFillTheView: nothing is stored behind an answer to the last node, whether it was refused or not.
func TestAnswersToLastNodesDoNotFillTheView(t *testing.T) {
	t.Parallel()
	var turns []turn
	for range 30 {
		turns = slices.Concat(turns, chat(1), answersOldest(1))
	}
	a := flow(turns, writer(), &part{kind: "ask", name: "asker", schema: true})
	if diff, _ := a.compare(t, storages.InMemory(), policy{change: eager, between: few(25)}); diff != "" {
		t.Error(diff[:min(len(diff), 2_000)])
	}
}

// TestAnAgentForOneTurnThatAnswersAMessageFindsItsTask: it has spoken last, so ADK has it answer the next message itself,
// and puts the message at the position at which the session ended, as for a node.
func TestAnAgentForOneTurnThatAnswersAMessageFindsItsTask(t *testing.T) {
	t.Parallel()
	member := &node{name: "member", kind: llm, mode: "single_turn", plan: steps([]step{{words: 700}, calls("lookup", "lookup"), calls("refund"), {words: 100}, says, {words: 700}},
		[]step{calls("lookup"), calls("lookup"), calls("export"), calls("file"), calls("wait"), calls("order"), calls("lookup"), calls("wait")})}
	root := &node{name: "root", kind: llm, plan: steps([]step{calls("lookup"), {words: 100}, {words: 700}, calls("export")}, repeat(3, calls("delegate:member")), []step{calls("export")}), children: []*node{member}}
	answers := []turn{{answers: []int{1}, fresh: true, payload: 1}}
	a := team(root, nil, slices.Concat(chat(1), answers, chat(4), answers, chat(3)))
	for _, retain := range []int{1, 2, 3} {
		for _, window := range []int{1_000, 2_000} {
			diff, _ := a.compare(t, storages.InMemory(), policy{shortens: true, change: func(cfg *compaction.Config) {
				cfg.ContextWindow, cfg.TokenThreshold, cfg.RetainEvents, cfg.InvocationThreshold, cfg.OverlapSize, cfg.MaxSummaries = window, 0, retain, 1, 1, 4
			}})
			if diff != "" {
				t.Errorf("retain %d, window %d: %s", retain, window, diff[:min(len(diff), 1_500)])
			}
		}
	}
}
