package compactiontest

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

func partialCases() []Case {
	cases := []Case{
		{
			Name: "GetActive loads everything the view shows",
			Explain: "Checks that the view of what GetActive loads equals the view of the whole session, after every turn and record. An event that is not loaded is neither shown to the " +
				"model nor summarized, so the agent silently forgets it.",
			Check: loading(func(p *innerPlay) {
				for i := range 12 {
					at := len(p.storedEvents())
					p.turns(3)
					p.checkPart("after three turns")
					first := p.compact(fmt.Sprint("r", i), at, at+4)
					p.checkPart("after a record")
					at = len(p.storedEvents())
					p.turns(2)
					second := p.compact(fmt.Sprint("s", i), at, at+2)
					p.append(histories.Absorb(fmt.Sprint("m", i), first, second))
					p.checkPart("after a merge")
				}
			}),
		},
		{
			Name: "GetActive loads the newest of each side",
			Explain: "Checks that the newest user event and the newest agent event are loaded even if a record covers them. ADK treats the newest user event as the " +
				"message to answer, and routes the next message by the newest agent event. Without it, the wrong agent answers.",
			Check: loading(func(p *innerPlay) {
				p.turns(3)
				p.compact("r", 0, 6)
				p.checkPart("after a record over everything")
			}),
		},
		{
			Name: "GetActive loads a call with its whole unit",
			Explain: "Checks that a call is loaded with all its responses and every call made in the same event, even if a record covers some of them. Providers reject a prompt with a " +
				"response without its call or a call without its response, and the session is dead.",
			Check: loading(func(p *innerPlay) {
				p.h.User("inv", "Book it, and ask.").Call("inv", "agent", "book", "long", "quick").Long("long")
				p.h.Response("inv", "agent", "book", "done", "quick").Response("inv", "agent", "book", "pending", "long").Agent("inv", "agent", "I have asked.")
				p.say()
				p.compact("r", 0, 5)
				p.turns(3)
				p.checkPart("while a covered call waits")
				p.h.Response("late", "user", "book", "approved", "long")
				p.say()
				p.checkPart("after its late answer")
			}),
		},
		{
			Name: "GetActive loads the anchor of a mid-turn summary",
			Explain: "Checks that the anchor event of a mid-turn summary is loaded, even if a record covers it. Without the anchor, the view cannot place " +
				"the summary, and the model reads the results before the question.",
			Check: loading(func(p *innerPlay) {
				p.turns(3)
				p.h.User("inv", "Look at everything.")
				for i := range 4 {
					id := fmt.Sprint("c", i)
					p.h.Call("inv", "agent", "look", id).Response("inv", "agent", "look", "seen", id)
				}
				p.say()
				opening := len(p.storedEvents()) - 9
				after := p.storedEvents()[opening]
				p.append(histories.Amend(p.recordOf("rounds", opening+1, opening+5), func(m *record.Metadata) {
					m.After, m.Agent = record.RefTo(after), "agent"
				}))
				p.checkPart("with a summary of rounds")
				p.compact("rest", 0, opening+1)
				p.checkPart("once the anchor is covered")
			}),
		},
		{
			Name: "Covered reports exactly the covered events",
			Explain: "Checks that Covered is true for every loaded event that a record covers, and false for all others. If it is wrongly false, the event is summarized twice. " +
				"If it is wrongly true, the event is never summarized and stays in every prompt.",
			Check: loading(func(p *innerPlay) {
				p.turns(4)
				p.compact("r", 0, 8)
				p.checkCovered(8)
				p.turns(1)
				p.h.User("inv", "Book it.").LongCall("inv", "agent", "book", "long")
				p.say()
				p.checkCovered(8)
				p.h.Response("inv", "agent", "book", "pending", "long").Agent("inv", "agent", "I have asked.")
				p.say()
				p.checkCovered(8)
			}),
		},
		{
			Name: "Overtaken reports calls that will get no answer",
			Explain: "Checks that Overtaken is true for a call if the user has moved on, even where the user's later message was not loaded, and false while the turn may still be running. " +
				"Providers reject a prompt with an interrupted call that is left unanswered, and a running call must not get a stand-in response.",
			Check: loading(func(p *innerPlay) {
				// Two runs interleave, so that the newest user message belongs to the call's own
				// invocation.
				p.h.User("first", "Book it.").Call("first", "agent", "book", "c1")
				p.say()
				p.checkOvertaken(p.h.Last().ID, false)
				p.h.Turn("second", "agent", "Hello?", "Here I am.").Turn("first", "agent", "Is it booked?", "Not yet.")
				p.say()
				p.compact("r", 2, 4)
				p.checkPart("after a call that another run has overtaken")
				p.checkOvertaken("e2", true)
				p.h.Call("first", "agent", "book", "c2")
				p.say()
				p.checkPart("while another call is running")
				p.checkOvertaken(p.h.Last().ID, false)
			}),
		},
		{
			Name: "GetActive resolves competing records",
			Explain: "Checks that the view is right after two processes have summarized one session at once. Their records overlap, and one may replace the other. If the service counts an " +
				"event as hidden by a record that is no longer shown, the model loses the event.",
			Check: loading(func(p *innerPlay) {
				p.turns(6)
				p.compact("first", 0, 4)
				p.compact("overlapping", 2, 8)
				p.checkPart("after two overlapping records")
				p.append(histories.Amend(p.recordOf("wider", 0, 10), func(m *record.Metadata) { m.CreatedAt = m.CreatedAt.Add(1) }))
				p.checkPart("after a third record that covers more than both")
				p.turns(2)
				p.checkPart("after more turns")
			}),
		},
		{
			Name: "a partial session accepts appends",
			Explain: "Checks that AppendEvent accepts a session from GetActive like one from Get, that GetActive ignores the request's filters, and that a missing session yields " +
				"compaction.ErrNotFound. The compaction service appends all events of a turn through such a handle.",
			Check: loading(checkPartIsSession),
		},
	}
	if adk.ResumesRuns {
		cases = append(cases, Case{
			Name: "GetActive loads what a workflow goes on with",
			Explain: "Checks that what the nodes of a waiting workflow of ADK v2 have put out is loaded when the user answers, even if a record covers it. ADK reads it in " +
				"the session to go on with the workflow. Without it, nodes run again or get no input.",
			Check: loading(func(p *innerPlay) {
				p.turns(1)
				p.h.User("flow", "Book a table.")
				for _, node := range []string{"find", "find", "rate"} {
					p.h.Agent("flow", "flow", "It is done.")
					histories.SetNode(p.h.Last(), "flow@1/"+node+"@1", "Casa Lola", false)
				}
				p.h.LongCall("flow", "flow", "ask", "long")
				histories.SetNode(p.h.Last(), "flow@1/ask@1", "", false)
				p.turns(3)
				p.compact("r", 0, 6)
				p.turns(1)
				p.checkPart("while the workflow waits")
				p.h.Response("flow", "user", "ask", "yes", "long")
				p.say()
				p.checkPart("after the answer")
				p.h.User("flow", "A table for two, then.")
				histories.SetNode(p.h.Last(), "flow@1/tell@1", "", false)
				p.say()
				p.checkPart("after a node has written in the user's name")
				p.turns(1)
				p.checkPart("after the next message")
			}),
		})
	}
	return cases
}

func loading(f func(p *innerPlay)) func(context.Context, session.Service) error {
	return func(ctx context.Context, service session.Service) error {
		if _, ok := service.(partialService); !ok {
			return fmt.Errorf("%w: GetActive", errNotOffered)
		}
		return playingInner(f)(ctx, service)
	}
}

// checkCovered checks that exactly the first n stored events are covered.
func (p *innerPlay) checkCovered(n int) {
	p.checkPart("for Covered")
	part, ok := p.part().(partialSession)
	if !ok {
		return
	}
	covered := map[string]bool{}
	for _, ev := range p.storedEvents()[:n] {
		covered[ev.ID] = true
	}
	for ev := range part.Events().All() {
		if got := part.Covered(ev.ID); got != covered[ev.ID] && !record.Is(ev) {
			p.add("Covered(%s) is %t, want %t", ev.ID, got, covered[ev.ID])
		}
	}
}

// checkOvertaken compares Overtaken of a loaded event with the wanted value.
func (p *innerPlay) checkOvertaken(id string, want bool) {
	if part, ok := p.part().(partialSession); ok && part.Overtaken(id) != want {
		p.add("Overtaken(%s) is %t, want %t", id, !want, want)
	}
}

func checkPartIsSession(p *innerPlay) {
	p.turns(4)
	p.compact("r", 0, 4)
	filtered := suiteRequest()
	filtered.NumRecentEvents, filtered.After = 1, histories.Epoch.AddDate(10, 0, 0)
	a := p.service.(partialService)
	resp, err := a.GetActive(p.ctx, filtered)
	if err != nil {
		p.add("GetActive with filters: %w", err)
		return
	}
	if got, want := IDs(viewOf(resp.Session)), IDs(viewOf(p.load())); strings.Join(got, " ") != strings.Join(want, " ") {
		p.add("GetActive with filters shows %q, want %q: the filters apply to the view", got, want)
	}
	p.live = resp.Session
	p.turns(2)
	if n := p.live.Events().Len(); n == 0 || p.live.Events().At(n-1).ID != p.h.Last().ID {
		p.add("an event appended through a partial session is not its last event")
	}
	p.checkPart("after appends through a partial session")
	missing := suiteRequest()
	missing.SessionID = "no such session"
	if _, err := a.GetActive(p.ctx, missing); !adk.IsNotFound(err) {
		p.add("GetActive of a session that does not exist: %v, want compaction.ErrNotFound", err)
	}
}
