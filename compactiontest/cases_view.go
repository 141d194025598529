package compactiontest

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

func viewCases() []Case {
	return []Case{
		{
			Name: "the view is live",
			Explain: "Checks that a handle immediately shows what is appended through it, including summaries. ADK rereads the turn's handle " +
				"before every model call. If the handle is frozen at Get, or events are appended through another handle, the model does not see the newest tool result and calls the tool again, forever.",
			Check: playing(func(p *play) {
				for range 14 {
					p.chat(1)
					handleCheck{p, "the handle of the turn", p.look(p.live)}.check(true)
				}
				p.checkCompacted()
				p.check()
			}),
		},
		{
			Name: "a snapshot never changes",
			Explain: "Checks that a list of events never changes after it is returned, and that Len, At and All agree. Parallel agents read one " +
				"list while others append. If it changes under them, an agent is routed by events that were not in its prompt, or reads past the end.",
			Check: playing(checkSnapshots),
		},
		{
			Name: "every hidden event was summarized",
			Explain: "Checks that events are hidden individually and never by a time range. Events may share an instant, and some arrive late with an early " +
				"time (another process, a slow tool). An event that merely falls into the range is in no summary, so the model silently loses it.",
			Check: playing(checkTimes),
		},
		{
			Name: "branches do not leak",
			Explain: "Checks that a summary is shown in the branch of its events. Agents of a parallel workflow must not see each other's " +
				"conversations. If the summary has no branch, they read them anyway and confuse their tasks.",
			Check: playing(checkBranches),
		},
		{
			Name: "the view stays short",
			Explain: "Checks that the view of a long session is bounded. If something blocks compaction permanently, every prompt is longer than the one " +
				"before, until the model refuses it and the session is dead.",
			Check: playing(func(p *play) {
				p.chat(20)
				p.tools(2)
				p.chat(40)
				p.checkCompacted()
				if n := len(p.look(p.live).events); n > len(p.said)/3 {
					p.add("%d of %d events are shown: the prompt grows with the session", n, len(p.said))
				}
				p.check()
			}),
		},
		{
			Name: "filters apply to the view",
			Explain: "Checks that Get's NumRecentEvents and After apply to the view. If they are passed to the inner service, the newest few stored events " +
				"are mistaken for the whole session: summaries are lost, or records count as conversation.",
			Check: playing(checkFilters),
		},
	}
}

func checkSnapshots(p *play) {
	type snapshot struct {
		events session.Events
		keys   []string
	}
	var taken []snapshot
	for range 14 {
		p.chat(1)
		s := snapshot{events: p.live.Events()}
		for ev := range s.events.All() {
			s.keys = append(s.keys, keyOf(ev))
		}
		taken = append(taken, s)
		for range s.events.All() {
			break // a reader may stop at any event
		}
	}
	p.checkCompacted()
	for i, s := range taken {
		var keys []string
		for ev := range s.events.All() {
			keys = append(keys, keyOf(ev))
		}
		if !slices.Equal(keys, s.keys) || s.events.Len() != len(s.keys) {
			p.add("the list returned after turn %d had %d events and now has different events or another number of them (All yields %d, Len is %d)", i+1, len(s.keys), len(keys), s.events.Len())
		}
		for j, key := range s.keys {
			if got := s.events.At(j); keyOf(got) != key {
				p.add("the list returned after turn %d now has a different event at %d", i+1, j)
			}
		}
	}
	p.check()
}

func checkTimes(p *play) {
	p.unsorted = true
	same := histories.Epoch.Add(time.Second)
	for range 4 { // four turns in one instant
		inv := p.invocation()
		p.ask(inv)
		p.h.Last().Timestamp = same
		p.answer(inv, "agent")
		p.h.Last().Timestamp = same
		p.say()
	}
	p.chat(4)
	for _, at := range []time.Time{same, same.Add(-time.Second), same.Add(time.Second), {}} {
		inv := p.invocation()
		p.ask(inv)
		p.h.Last().Timestamp = at
		p.say()
		p.answer(inv, "agent")
		p.say()
		p.check()
	}
	p.chat(8)
	p.checkCompacted()
	p.check()
}

func checkBranches(p *play) {
	agents := []string{"left", "right"}
	for range 14 {
		inv := p.invocation()
		p.h.Branch("")
		p.ask(inv)
		for round := range 2 {
			for _, agent := range agents {
				p.h.Branch("both." + agent)
				if round == 0 {
					id := fmt.Sprintf("%s-%s", inv, agent)
					p.call(inv, id)
					p.h.Last().Author = agent
					p.respond(inv, agent, "one", id)
					continue
				}
				p.answer(inv, agent)
			}
		}
		p.say()
	}
	p.checkCompacted()
	p.check()
	branches := map[string]bool{}
	for _, summary := range p.look(p.live).summaries() {
		branches[summary.Branch] = true
	}
	for _, agent := range agents {
		if !branches["both."+agent] {
			p.add("no summary covers branch both.%s: its agent's events are never compacted, or are summarized in another branch", agent)
		}
	}
}

func checkFilters(p *play) {
	p.chat(14)
	p.checkCompacted()
	whole := p.look(p.fresh())
	for _, n := range []int{1, 3, len(whole.events), len(whole.events) + 5} {
		req := suiteRequest()
		req.NumRecentEvents = n
		p.checkFiltered(fmt.Sprintf("a handle with the newest %d", n), req, whole.events[max(0, len(whole.events)-n):])
	}
	newest := p.said[len(p.said)-3].Timestamp
	req := suiteRequest()
	req.After = newest
	p.checkFiltered("a handle filtered by the time of the third-newest event", req, whole.events[max(0, len(whole.events)-3):])
}

func (p *play) checkFiltered(who string, req *session.GetRequest, want []*session.Event) {
	resp, err := p.service.Get(p.ctx, req)
	if err != nil {
		p.add("%s: %w", who, err)
		return
	}
	got := p.look(resp.Session)
	if !slices.EqualFunc(got.events, want, func(a, b *session.Event) bool { return keyOf(a) == keyOf(b) }) {
		p.add("%s shows %d events, want the %d newest of the view", who, len(got.events), len(want))
	}
}
