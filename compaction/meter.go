package compaction

import (
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/tokens"
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

	here []string // branches of what was seen
	seen extent

	sizes map[string]*promptSize // by reader's branch
}

// extent says which part of which view something is about.
type extent struct{ generation, length int }

// promptSize is the size of the prompt that an agent in one branch would send, as far as the view
// has been measured.
type promptSize struct {
	tokens   int
	measured extent
}

// begins notes an appended event and reports whether the invocation trigger must be looked at.
func (m *meter) begins(ev *session.Event) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ev.InvocationID != m.invocation {
		m.invocation = ev.InvocationID
		m.begun++
	}
	return selector.IsTurnEnd(ev) && m.begun >= m.missing
}

// looking notes that the invocation trigger is about to be looked at. The function it returns takes how
// many invocations were found missing; what begins in the meantime counts for the next look.
func (m *meter) looking() (looked func(missing int)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.begun
	return func(missing int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.begun, m.missing = max(0, m.begun-before), missing
	}
}

// branches returns the branches of the visible events, the root's first. It must not be changed.
func (m *meter) branches(view *filtered.View) []string {
	events, generation := view.Version()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen.generation != generation || m.seen.length > events.Len() || m.here == nil {
		m.here, m.seen = nil, extent{generation: generation}
	}
	m.here = addBranches(m.here, events.Slice()[m.seen.length:])
	m.seen.length = events.Len()
	return slices.Clip(m.here)
}

// size returns the tokens of the prompt that an agent in the branch would send now.
func (m *meter) size(h *handle, branch string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	view, generation := h.view.Version()
	p := m.sizes[branch]
	if p == nil || p.measured.generation != generation {
		p = &promptSize{tokens: measure(view, h.view.Live(), branch, h.state.overhead(branch)), measured: extent{generation: generation}}
		if m.sizes == nil {
			m.sizes = map[string]*promptSize{}
		}
		m.sizes[branch] = p
	} else {
		for i := p.measured.length; i < view.Len(); i++ {
			p.add(view.At(i), branch)
		}
	}
	p.measured.length = view.Len()
	return p.tokens
}

func (p *promptSize) add(ev *session.Event, branch string) {
	if !selector.Visible(branch, ev.Branch) {
		return
	}
	if reported, ok := report(ev, branch); ok {
		p.tokens = reported
		return
	}
	p.tokens += sizeOf(ev)
}

// measure returns the size of the prompt that an agent in the branch would send for a view: what the
// provider last reported for that branch after the view last changed, and the estimate of all after
// it; without such a report the estimate of the whole view and the overhead.
func measure(view session.Events, live []*record.Metadata, branch string, overhead int) int {
	changed := lastChange(live, branch)
	sum := 0
	for i := view.Len() - 1; i >= 0; i-- {
		ev := view.At(i)
		if !selector.Visible(branch, ev.Branch) {
			continue
		}
		if reported, ok := report(ev, branch); ok && ev.Timestamp.After(changed) {
			return reported + sum
		}
		sum += sizeOf(ev)
	}
	return sum + overhead
}

// learnOverhead returns by how much the provider's latest report for the branch exceeds the estimate
// of what was visible then, at least 0, and false where there is no report for the view as it is.
func learnOverhead(view []*session.Event, live []*record.Metadata, branch string) (int, bool) {
	changed := lastChange(live, branch)
	estimate, overhead, found := 0, 0, false
	for _, ev := range view {
		if !selector.Visible(branch, ev.Branch) {
			continue
		}
		if _, ok := report(ev, branch); ok && ev.Timestamp.After(changed) {
			overhead, found = max(0, int(ev.UsageMetadata.PromptTokenCount)-estimate), true
		}
		estimate += sizeOf(ev)
	}
	return overhead, found
}

// lastChange returns when the newest summary that the branch sees was made.
func lastChange(live []*record.Metadata, branch string) time.Time {
	var changed time.Time
	for _, m := range live {
		if selector.Visible(branch, m.Branch) && m.CreatedAt.After(changed) {
			changed = m.CreatedAt
		}
	}
	return changed
}

// report returns the tokens of the prompt that led to an agent's event in the branch, and of the
// event itself, as the provider counted them.
func report(ev *session.Event, branch string) (int, bool) {
	if ev.Branch != branch || ev.Author == "user" || ev.UsageMetadata == nil || ev.UsageMetadata.PromptTokenCount <= 0 {
		return 0, false
	}
	output := int(ev.UsageMetadata.CandidatesTokenCount)
	if output <= 0 {
		output = sizeOf(ev)
	}
	return int(ev.UsageMetadata.PromptTokenCount) + output, true
}

// sizeOf is what an event takes up in a prompt, estimated.
func sizeOf(ev *session.Event) int { return tokens.OfEvent(ev) + selector.EventOverhead }
