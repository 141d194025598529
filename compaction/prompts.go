package compaction

import (
	"maps"
	"sync"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
)

// promptFacts are what has been learned about the prompts of one session. The zero value is ready, and
// safe for concurrent use.
type promptFacts struct {
	mu sync.Mutex
	// doubted is what was reported about the provider's counts, by agent.
	doubted map[string]*doubts
	// measured are the estimates of the view by branch, and requests what agents were last sent, by branch
	// and name.
	measured map[string]int
	requests map[string]map[string]sent
	// fits say how an agent's prompts compare with the estimate of its view, by branch and author. Learned
	// from what the provider reports.
	fits map[string]map[string]fit
}

// doubt takes in the verdict on an agent's count and reports whether it is news.
func (p *promptFacts) doubt(author string, verdict belief) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubted == nil {
		p.doubted = map[string]*doubts{}
	}
	d := p.doubted[author]
	if d == nil {
		d = &doubts{}
		p.doubted[author] = d
	}
	return d.next(verdict)
}

// learn notes how the prompts of agents in a branch compare with the estimate.
func (p *promptFacts) learn(branch string, agents map[string]*agentPrompt) {
	if len(agents) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fits == nil {
		p.fits = map[string]map[string]fit{}
	}
	p.fits[branch] = map[string]fit{}
	for author, agent := range agents {
		p.fits[branch][author] = agent.fit
	}
}

// fitsIn returns what was learned of the prompts of a branch, by agent, to be added to.
func (p *promptFacts) fitsIn(branch string) map[string]*agentPrompt {
	p.mu.Lock()
	defer p.mu.Unlock()
	agents := map[string]*agentPrompt{}
	for author, f := range p.fits[branch] {
		agents[author] = &agentPrompt{fit: f}
	}
	return agents
}

// maxBranches bounds for how many branches of a session requests are remembered.
const maxBranches = 64

// noteRequest notes what an agent is sent. It reports false where no trigger is on, or no event has come
// in: then there is nothing to compare with.
func (p *promptFacts) noteRequest(branch, agent string, now sent) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.view = p.measured[branch]; now.view <= 0 {
		return false
	}
	if p.requests == nil || len(p.requests) >= maxBranches {
		p.requests = map[string]map[string]sent{}
	}
	if p.requests[branch] == nil {
		p.requests[branch] = map[string]sent{}
	}
	p.requests[branch][agent] = now
	return true
}

// noteMeasured notes the estimate of the view that a branch sees.
func (p *promptFacts) noteMeasured(branch string, estimate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.measured == nil || len(p.measured) >= maxBranches {
		p.measured = map[string]int{}
	}
	p.measured[branch] = estimate
}

// requestsIn returns what agents in the branch were last sent.
func (p *promptFacts) requestsIn(branch string) map[string]sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.requests[branch])
}

func (p *promptFacts) worthKeeping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.fits) > 0 || len(p.requests) > 0
}

// leastWindow is what a window must reach for a summary of it to be any shorter: its frame alone takes
// up as much as a few short messages.
func leastWindow(string) int { return promptsize.Frame(record.KindSummary, false) + minSummary }
