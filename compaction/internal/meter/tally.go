package meter

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

const (
	// recentCounts is how many counts a fit goes by. Tools, instructions and models change.
	recentCounts = 30
	// maxSilent is for how many compactions an agent is remembered that reports no more. It may
	// have gone, and its instructions and tools must not be counted in for ever.
	maxSilent = 5
)

// fit is what the provider's counts teach about one agent's prompts.
type fit struct {
	promptsize.Fit
	// compactionsWithoutReport is for how many compactions in a row other agents have reported, and
	// this one has not.
	compactionsWithoutReport int
}

// tally is what one branch's prompts hold: the estimate of the view, and the counts of the agents
// that run in the branch. It grows with the view, so an append costs the event that was appended.
type tally struct {
	branch   string
	session  *Session
	estimate int // of the view alone
	newest   int // estimate of the newest event in it
	measured extent
	// agents are those whose prompts the provider has counted, now or before the view changed.
	agents map[string]*agentTally
	// requests are what agents were last sent, where that is known.
	requests map[string]request
	// speakers are the agents whose events are visible in their own branch.
	speakers map[string]bool
	// account is nil unless the economical trigger is on.
	account *account
	// state and plannedAt are the view and the events at which its summaries were planned, while the account takes
	// in the view for the first time.
	state     *view.State
	plannedAt []newest
}

// agentTally is the prompt of one agent.
type agentTally struct {
	fit fit
	// counted is what the provider last counted for the prompt and its answer, 0 where it has
	// counted nothing since the view changed. since is the estimate of all that came after, and of an
	// answer that was not counted.
	counted, since int
	// by is the event with that count until it is noted, and sent the estimate of its prompt, -1 if no
	// request was measured. fixed is the size of the prompt's fixed part at that time, 0 if it is not
	// known.
	by          *session.Event
	sent, fixed int
}

// newTally makes the tally of a branch. It has measured nothing of the view yet.
func newTally(s *Session, branch string, generation int) *tally {
	return &tally{
		branch: branch, session: s, measured: extent{generation: generation},
		agents: s.agents(branch), requests: s.requestsIn(branch), speakers: map[string]bool{},
	}
}

// prompt is the largest that any agent in the branch would send. The count of an agent is brought
// up to date. Where there is none since the view changed, earlier counts correct the estimate,
// except those of an agent that is shown little of the history: they say nothing about the prompts
// of others. Where the provider has counted nothing, the request that an agent was last sent is
// brought up to date.
func (t *tally) prompt() Prompt {
	var largest Prompt
	for name, agent := range t.agents {
		request, line := t.request(name), agent.fit.Line()
		ratio := line.Ratio * request.share(t.estimate)
		switch {
		case agent.counted > 0:
			counted := max(0, agent.counted+t.fixedChange(name))
			size, change := counted+agent.since, agent.since
			if line.Assumed {
				change *= 2 // Claude counts up to 1.5 times the estimate
			}
			largest = largest.orLarger(Prompt{Likely: size, AtMost: size + promptsize.Margin(counted, change), ratio: ratio})
		case !agent.fit.Undercounts():
			size := max(0, line.Of(request.of(t.estimate))+t.fixedChange(name))
			largest = largest.orLarger(Prompt{Likely: size, AtMost: PlusError(size), ratio: ratio})
		}
	}
	for name, request := range t.requests {
		if t.agents[name] == nil {
			size := t.fixed(name) + request.of(t.estimate)
			largest = largest.orLarger(Prompt{Likely: size, AtMost: PlusError(size), ratio: request.share(t.estimate)})
		}
	}
	for _, name := range t.unmeasured() {
		if fixed := t.fixed(name); fixed > 0 {
			size := fixed + t.estimate
			largest = largest.orLarger(Prompt{Likely: size, AtMost: PlusError(size), ratio: 1})
		}
	}
	if largest.Likely > 0 {
		return largest
	}
	return Prompt{Likely: t.estimate, AtMost: PlusError(t.estimate), ratio: 1}
}

// whole is the largest prompt if nothing takes a part of the view out of it: what was taken out before says nothing of
// what will be.
func (t *tally) whole() Prompt {
	all := *t
	all.requests = nil
	return all.prompt()
}

// mostLeft is how much of a view may at most be left of it for plugins to be known to cut it. Requests leave some events
// out in any case.
const mostLeft = 0.75

// isCut reports whether plugins of the app have taken much out of every agent's newest request.
func (t *tally) isCut() bool {
	for _, request := range t.requests {
		if request.share(t.estimate) > mostLeft {
			return false
		}
	}
	return len(t.requests) > 0
}

// request is what an agent was last sent, nil where that is not known.
func (t *tally) request(agent string) *request {
	if request, known := t.requests[agent]; known {
		return &request
	}
	return nil
}

// judge decides whether to believe the count that an event has for the prompt behind it, given the
// estimate of the view at that time. expected is the estimate of the prompt itself.
func (t *tally) judge(ev *session.Event, class adk.Class, estimate int) (count, expected int, v verdict, reported bool) {
	request := t.request(ev.Author)
	expected = t.sent(ev, estimate)
	count, reported = countOf(ev, class, t.branch, expected)
	if request != nil {
		expected += request.fixed
	}
	return count, expected, judge(count, expected, t.session.Limits().HardLimit), reported
}

// add measures more of the view. It ignores counts of another view, and stale ones.
func (t *tally) add(events []*session.Event, isPresent func(ev *session.Event) bool) {
	for _, ev := range events {
		if !adk.Visible(t.branch, adk.Lane(ev)) {
			continue
		}
		class := adk.Classify(ev)
		if adk.Lane(ev) == t.branch && class.Is(adk.ByAgent) && !class.Is(adk.Remote) {
			t.speakers[ev.Author] = true
		}
		size := promptsize.OfEvent(ev)
		for _, agent := range t.agents {
			agent.since += agent.fit.Line().More(size)
		}
		count, _, v, reported := t.judge(ev, class, t.estimate)
		if reported && v == believed && isPresent(ev) && !t.session.learned.Events.Stale(ev) {
			t.count(ev, count)
		}
		t.estimate, t.newest = t.estimate+size, size
		t.charge(ev, class, size)
	}
	t.noteCounts()
}

// charge takes an event into the account.
func (t *tally) charge(ev *session.Event, class adk.Class, size int) {
	if t.account == nil {
		return
	}
	if t.state != nil {
		if m := t.state.Summary(ev); m != nil {
			t.account.addSummary(m, size)
			return
		}
	}
	t.account.add(ev, size, adk.Lane(ev) == t.branch && IsCall(class), t.session.Limits())
	for _, through := range t.plannedAt {
		if through.isOf(ev) {
			t.account.restart()
		}
	}
}

// open gives the tally an account, and notes what summaries the view shows. It must be called before the first
// event is added.
func (t *tally) open(state *view.State, l *Limits) {
	t.account, t.state = &account{retain: l.Retain}, state
	for _, m := range state.Current {
		if adk.Visible(t.branch, m.Branch) && !m.Through.IsZero() {
			t.plannedAt = append(t.plannedAt, newest(m.Through))
		}
	}
}

// opened notes that all events of the view at that time were added: those that follow are no summaries.
func (t *tally) opened() { t.state, t.plannedAt = nil, nil }

// newest is the newest event of a branch when a window was chosen.
type newest record.Ref

func (n newest) isOf(ev *session.Event) bool {
	if n.ID != "" && n.ID == ev.ID {
		return true
	}
	return record.Ref(n).AltKey() == record.RefTo(ev).AltKey()
}

// count takes in what the provider counted for the prompt behind an event.
func (t *tally) count(ev *session.Event, count int) {
	agent := t.agents[ev.Author]
	if agent == nil {
		agent = &agentTally{}
		t.agents[ev.Author] = agent
	}
	agent.fit.Fade(recentCounts - 1)
	agent.fit.Add(t.sent(ev, t.estimate), count)
	output, since := outputOf(ev, agent.fit.Line())
	agent.counted, agent.since = count+output, since
	agent.by, agent.sent = ev, -1
	if request := t.request(ev.Author); request != nil && request.view == t.estimate { // the request behind this count
		agent.sent = request.contents
	}
}

// forgetSilent drops agents that have gone: for maxSilent compactions others have reported, and
// they have not.
func (t *tally) forgetSilent() {
	spoke := func(agent *agentTally) bool { return agent.counted > 0 }
	if !slices.ContainsFunc(slices.Collect(maps.Values(t.agents)), spoke) {
		return
	}
	for author, agent := range t.agents {
		switch {
		case spoke(agent):
			agent.fit.compactionsWithoutReport = 0
		case agent.fit.compactionsWithoutReport == maxSilent:
			delete(t.agents, author)
		default:
			agent.fit.compactionsWithoutReport++
		}
	}
}
