package compaction

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// meter follows one handle's session so that looking whether something is due costs the same after
// every append, however long the session is.
type meter struct {
	mu sync.Mutex

	// begun counts the invocations that began since the invocation trigger was last looked at; it is
	// not looked at again before there are missing of them. An invocation counts again when events of
	// two runs alternate, which costs a look and nothing else.
	begun      int
	missing    int
	invocation string
	open       bool // the invocation has not answered yet

	here []string // branches of what was seen
	seen extent

	sizes map[string]*promptSize // by reader's branch
}

// extent says which part of which view something is about.
type extent struct{ generation, length int }

// promptSize is the size of the prompt that an agent in one branch would send, as far as the view
// has been measured.
type promptSize struct {
	// estimate is of the view alone.
	estimate int
	// agents are those whose prompts the provider has counted, now or before the view changed.
	agents   map[string]*agentPrompt
	measured extent
	// requests are what agents were last sent, where that is known, and limit is the hard limit.
	requests map[string]sent
	limit    int
}

// agentPrompt is the prompt of one agent.
type agentPrompt struct {
	fit fit
	// reported is what the provider last counted for it, 0 where it has counted nothing since the view
	// changed, and since the estimate of all that came after.
	reported, since int
}

// prompt is the size of a prompt in tokens.
type prompt struct {
	// likely is what is expected, most what it should not exceed: the hard limit is held against that.
	likely, most int
	// ratio is what one estimated token is taken to be in it; 0 for an empty one.
	ratio float64
}

// without is what is likely to be left of it without something of that estimate.
func (p prompt) without(estimate int) int { return p.likely - int(p.ratio*float64(estimate)) }

// estimateOf is how many estimated tokens a part of the prompt of that size holds, rounded up.
func (p prompt) estimateOf(size int) int { return int(math.Ceil(float64(size) / max(1, p.ratio))) }

// orLarger returns the larger of two.
func (p prompt) orLarger(other prompt) prompt {
	if other.likely > p.likely {
		other.most = max(p.most, other.most)
		return other
	}
	p.most = max(p.most, other.most)
	return p
}

// doubt is by how much estimates are off, as a share of 1 to so many: 5 to 12 percent for single messages
// of a kind, against real tokenizers.
const doubt = 10

// prompt is the largest that any agent would send. What was reported of an agent is brought up to date; where
// nothing was since the view changed, reports from before correct the estimate. One that is shown little of the
// history reports little, and tells nothing of the others. Where nothing is reported, what agents were last
// sent is brought up to date.
func (p *promptSize) prompt() prompt {
	var largest prompt
	for name, agent := range p.agents {
		request := p.request(name)
		ratio := agent.fit.Line().Ratio * request.share(p.estimate)
		switch {
		case agent.reported > 0:
			size := agent.reported + agent.since
			largest = largest.orLarger(prompt{size, size + agent.since/doubt, ratio})
		case !agent.fit.Undercounts():
			size := agent.fit.Line().Of(request.of(p.estimate))
			largest = largest.orLarger(prompt{size, size + size/doubt, ratio})
		}
	}
	for name, request := range p.requests {
		if p.agents[name] == nil {
			size := request.fixed + request.of(p.estimate)
			largest = largest.orLarger(prompt{size, size + size/doubt, request.share(p.estimate)})
		}
	}
	if largest.likely > 0 {
		return largest
	}
	return prompt{p.estimate, p.estimate + p.estimate/doubt, 1}
}

// request is what an agent was last sent, nil where that is not known.
func (p *promptSize) request(agent string) *sent {
	if request, known := p.requests[agent]; known {
		return &request
	}
	return nil
}

// judge decides whether to believe the count that a provider reports for the prompt behind an event, given its
// estimate.
func (p *promptSize) judge(ev *session.Event, branch string, estimate int) (tokens, shown int, verdict belief, reported bool) {
	request := p.request(ev.Author)
	shown = request.of(estimate)
	tokens, reported = count(ev, branch, shown)
	if request != nil {
		shown += request.fixed
	}
	return tokens, shown, judge(tokens, shown, p.limit), reported
}

// begins notes an appended event and reports whether the invocation trigger must be looked at.
func (m *meter) begins(ev *session.Event) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ev.InvocationID != m.invocation {
		m.invocation = ev.InvocationID
		m.begun++
		m.open = true
	}
	if !adk.Classify(ev).Is(adk.EndsTurn) {
		return false
	}
	m.open = false
	return m.begun >= m.missing
}

// looking notes that the invocation trigger is about to be looked at. The function it returns takes how
// many invocations were found missing; what begins in the meantime counts for the next look, and so does
// an invocation that has not answered yet: its answer may be all that is missing.
func (m *meter) looking() (looked func(missing int)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.begun
	if m.open {
		before--
	}
	return func(missing int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.begun, m.missing = max(0, m.begun-before), missing
	}
}

// branches returns the branches of the visible events, the root's first. It must not be changed.
func (m *meter) branches(v *view.View) []string {
	events, generation := v.Version()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen.generation != generation || m.seen.length > events.Len() || m.here == nil {
		m.here, m.seen = nil, extent{generation: generation}
	}
	m.here = addBranches(m.here, events.Slice()[m.seen.length:])
	m.seen.length = events.Len()
	return slices.Clip(m.here)
}

// prompt returns the size of the prompt that an agent in the branch would send now.
func (m *meter) prompt(h *handle, branch string) prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	view, generation := h.view.Version()
	p := m.sizes[branch]
	if p == nil || p.measured.generation != generation || p.measured.length > view.Len() {
		p = &promptSize{
			agents: h.state.prompts.fitsIn(branch), measured: extent{generation: generation},
			requests: h.state.prompts.requestsIn(branch), limit: h.service.limits(h.state).limit,
		}
		if m.sizes == nil {
			m.sizes = map[string]*promptSize{}
		}
		m.sizes[branch] = p
		p.add(view.Slice(), branch, lastChange(h.view.Live(), branch), h.state.learned.Events.Stale)
	} else {
		p.requests, p.limit = h.state.prompts.requestsIn(branch), h.service.limits(h.state).limit
		p.add(view.From(p.measured.length).Slice(), branch, time.Time{}, h.state.learned.Events.Stale)
	}
	p.measured.length = view.Len()
	h.state.prompts.noteMeasured(branch, p.estimate)
	return p.prompt()
}

// judge decides whether to believe the count that the newest event of the handle reports.
func (m *meter) judge(h *handle, ev *session.Event) (tokens, estimate int, verdict belief, reported bool) {
	if ev.UsageMetadata == nil || ev.UsageMetadata.PromptTokenCount <= 0 || h.state.learned.Events.Stale(ev) {
		return 0, 0, believed, false
	}
	m.prompt(h, ev.Branch)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.sizes[ev.Branch]
	return p.judge(ev, ev.Branch, max(0, p.estimate-promptsize.OfEvent(ev)))
}

// add measures more of the view. Reports from before changed, when the view was another, say nothing,
// nor do void ones.
func (p *promptSize) add(events []*session.Event, branch string, changed time.Time, void func(*session.Event) bool) {
	for _, ev := range events {
		if !adk.Visible(branch, ev.Branch) {
			continue
		}
		size := promptsize.OfEvent(ev)
		for _, agent := range p.agents {
			agent.since += agent.fit.Line().More(size)
		}
		tokens, _, verdict, reported := p.judge(ev, branch, p.estimate)
		if reported && verdict == believed && (changed.IsZero() || ev.Timestamp.After(changed)) && !void(ev) {
			agent := p.agents[ev.Author]
			if agent == nil {
				agent = &agentPrompt{}
				p.agents[ev.Author] = agent
			}
			agent.fit.add(p.request(ev.Author).of(p.estimate), tokens)
			agent.reported, agent.since = tokens+outputOf(ev), 0
		}
		p.estimate += size
	}
}

// learn returns, by agent, what the provider's reports say of prompts in the branch: those that were
// learned before, and those that are about the view as it is.
func learn(p promptSize, view []*session.Event, live []*record.Metadata, branch string, void func(*session.Event) bool) map[string]*agentPrompt {
	p.add(view, branch, lastChange(live, branch), void)
	p.forget()
	return p.agents
}

// forget leaves out agents that have gone: others have reported since the view changed, and they have not
// for as many changes as silence.
func (p *promptSize) forget() {
	spoke := func(agent *agentPrompt) bool { return agent.reported > 0 }
	if !slices.ContainsFunc(slices.Collect(maps.Values(p.agents)), spoke) {
		return
	}
	for author, agent := range p.agents {
		switch {
		case spoke(agent):
			agent.fit.silent = 0
		case agent.fit.silent == silence:
			delete(p.agents, author)
		default:
			agent.fit.silent++
		}
	}
}

// lastChange returns when the newest summary that the branch sees was made.
func lastChange(live []*record.Metadata, branch string) time.Time {
	var changed time.Time
	for _, m := range live {
		if adk.Visible(branch, m.Branch) && m.CreatedAt.After(changed) {
			changed = m.CreatedAt
		}
	}
	return changed
}
