package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

func partialCases() []Case {
	return []Case{
		{
			Name: "GetActive loads all that the view shows",
			Explain: "Guards that the view of what GetActive loads is that of the whole session, after every turn and record. An event that is not loaded is neither shown to the " +
				"model nor summarized by anybody: the agent forgets it without a trace.",
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
					p.append(Absorb(fmt.Sprint("m", i), first, second))
					p.checkPart("after a merge")
				}
			}),
		},
		{
			Name: "GetActive loads the newest of each side",
			Explain: "Guards that the newest event of the user and the newest of an agent are loaded even if a record covers them. ADK takes the newest event of the user for the " +
				"message, and routes the next one by the newest of an agent: without it, the wrong agent answers.",
			Check: loading(func(p *innerPlay) {
				p.turns(3)
				p.compact("r", 0, 6)
				p.checkPart("after a record over everything")
			}),
		},
		{
			Name: "GetActive loads a call with all that belongs to it",
			Explain: "Guards that a call comes with every response and every call made with it, even if a record covers some of them. Providers refuse a prompt with a response " +
				"that has no call, or a call that has no response, and the session is dead.",
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
			Name: "GetActive loads the event in front of a summary of tool rounds",
			Explain: "Guards that the event is loaded that a summary of a running turn's tool rounds is shown behind, even if a record covers it. Without it the view cannot place " +
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
				p.append(Amend(p.recordOf("rounds", opening+1, opening+5), func(m *record.Metadata) {
					m.After, m.Agent = record.RefTo(after), "agent"
				}))
				p.checkPart("with a summary of rounds")
				p.compact("rest", 0, opening+1)
				p.checkPart("once the event in front of it is covered")
			}),
		},
		{
			Name: "Covered knows what records stand for",
			Explain: "Guards that Covered is true for the loaded events that some record covers, and for no others. If it wrongly says no, the event is summarized a second time; " +
				"if it wrongly says yes, the event is never summarized, and stays in every prompt.",
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
			Name: "Overtaken knows that a call will get no answer",
			Explain: "Guards that Overtaken is true for a call behind which the user has gone on, if the message that shows it was not loaded, and false while the turn may still run. " +
				"A call that is wrongly taken for running has no response in the prompt, which providers refuse; a running one must not be answered by a stand-in.",
			Check: loading(func(p *innerPlay) {
				// Two runs take turns, so that the newest message is of the call's own invocation.
				p.h.User("first", "Book it.").Call("first", "agent", "book", "c1")
				p.say()
				p.checkOvertaken(p.h.Last().ID, false)
				p.h.Turn("second", "agent", "Hello?", "Here I am.").Turn("first", "agent", "Is it booked?", "Not yet.")
				p.say()
				p.compact("r", 2, 4)
				p.checkPart("after a call behind which another run has gone on")
				p.checkOvertaken("e2", true)
				p.h.Call("first", "agent", "book", "c2")
				p.say()
				p.checkPart("while another call runs")
				p.checkOvertaken(p.h.Last().ID, false)
			}),
		},
		{
			Name: "GetActive is careful with records that compete",
			Explain: "Guards that the view is right after two processes have summarized one session at once. Their records overlap, and one may replace another: an event that is " +
				"counted as hidden by a record which is not shown any more is lost to the model.",
			Check: loading(func(p *innerPlay) {
				p.turns(6)
				p.compact("first", 0, 4)
				p.compact("overlapping", 2, 8)
				p.checkPart("after two records that overlap")
				p.append(Amend(p.recordOf("wider", 0, 10), func(m *record.Metadata) { m.CreatedAt = m.CreatedAt.Add(1) }))
				p.checkPart("after a third one that covers more than both")
				p.turns(2)
				p.checkPart("after more turns")
			}),
		},
		{
			Name: "a part can be appended to",
			Explain: "Guards that AppendEvent takes what GetActive returned like a session from Get, that the request's filters are ignored, and that a session that does not exist is " +
				"session.ErrNotFound. The compaction service appends all events of a turn through that handle.",
			Check: loading(checkPartIsSession),
		},
	}
}

func loading(f func(p *innerPlay)) func(context.Context, session.Service) error {
	return func(ctx context.Context, service session.Service) error {
		if _, ok := service.(partialService); !ok {
			return fmt.Errorf("%w: GetActive", ErrNotOffered)
		}
		return playingInner(f)(ctx, service)
	}
}

// checkCovered: of the first n stored events each is covered, and no other.
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

// checkOvertaken holds Overtaken of a loaded event against what is wanted.
func (p *innerPlay) checkOvertaken(id string, want bool) {
	if part, ok := p.part().(partialSession); ok && part.Overtaken(id) != want {
		p.add("Overtaken(%s) is %t, want %t", id, !want, want)
	}
}

func checkPartIsSession(p *innerPlay) {
	p.turns(4)
	p.compact("r", 0, 4)
	filtered := suiteRequest()
	filtered.NumRecentEvents, filtered.After = 1, Epoch.AddDate(10, 0, 0)
	a := p.service.(partialService)
	resp, err := a.GetActive(p.ctx, filtered)
	if err != nil {
		p.add("GetActive with filters: %w", err)
		return
	}
	if got, want := IDs(viewOf(resp.Session)), IDs(viewOf(p.load())); strings.Join(got, " ") != strings.Join(want, " ") {
		p.add("with filters GetActive shows %q, want %q: the filters are for the view", got, want)
	}
	p.live = resp.Session
	p.turns(2)
	if n := p.live.Events().Len(); n == 0 || p.live.Events().At(n-1).ID != p.h.Last().ID {
		p.add("an event that was appended through a part is not at its end")
	}
	p.checkPart("after appends through a part")
	missing := suiteRequest()
	missing.SessionID = "no such session"
	if _, err := a.GetActive(p.ctx, missing); !errors.Is(err, session.ErrNotFound) {
		p.add("GetActive of a session that does not exist: %v, want session.ErrNotFound", err)
	}
}
