package meter

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
)

// maxBranches bounds for how many branches of a session requests are remembered.
const maxBranches = 64

// Session is what is known of the prompts of one session. All of its handles share it, and it is
// lost with the process, which costs accuracy until the provider reports again.
type Session struct {
	limits  atomic.Pointer[Limits]
	learned *learned.Facts
	fixed   Fixed // nil if the app has set no Config.Fixed

	mu sync.Mutex
	// estimates are those of the view, by branch, and requests what agents were last sent, by
	// branch and name.
	estimates map[string]int
	requests  map[string]map[string]request
	// shown is what readers were last shown, by branch.
	shown map[string]Shown
	// fits are what providers' counts teach, by branch and agent.
	fits   map[string]map[string]fit
	doubts map[string]*doubts // by agent
	// sent are the prompts behind the newest counts, by branch and agent, the newest last. expected
	// are the agents that are about to speak, by branch.
	sent     map[string]map[string][]sentPrompt
	expected map[string]string
}

// NewSession returns a Session that knows the limits of its agent's model, and what compactions of
// the session have taught. fixed may be nil.
func NewSession(l *Limits, facts *learned.Facts, fixed Fixed) *Session {
	s := &Session{
		learned: facts, fixed: fixed, estimates: map[string]int{}, requests: map[string]map[string]request{},
		fits: map[string]map[string]fit{}, doubts: map[string]*doubts{},
		sent: map[string]map[string][]sentPrompt{}, expected: map[string]string{},
	}
	s.limits.Store(l)
	return s
}

// Limits are those for the model that the session's agent last had.
func (s *Session) Limits() *Limits { return s.limits.Load() }

// Shown is how large a view was when a reader was shown it, and how much of it was shown, in estimated tokens.
type Shown struct{ View, Tokens int }

// Show notes what readers were last shown, by branch.
func (s *Session) Show(shown map[string]Shown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = shown
}

// SetLimits notes that the session's agent has another model.
func (s *Session) SetLimits(l *Limits) { s.limits.Store(l) }

// WorthKeeping reports whether there is anything to remember about a session to which nobody holds
// a handle.
func (s *Session) WorthKeeping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fits) > 0 || len(s.requests) > 0
}

// Requested notes how large a request of an agent was: its contents, what is fixed, and what masking took
// out of the contents, in estimated tokens. It replaces what was noted for the agent before. It returns
// false, and ignores the request, if no view of the branch was measured: no trigger is on, or no event has
// come in.
func (s *Session) Requested(branch, agent string, contents, fixed, masked int) bool {
	asked := s.ask(agent, branch)
	s.mu.Lock()
	defer s.mu.Unlock()
	estimate := s.estimates[branch]
	if estimate <= 0 {
		return false
	}
	if shown := s.shown[branch]; shown.View > 0 && shown.Tokens > 0 {
		// What was not shown was taken out by no plugin, and the view may have changed since.
		estimate, contents = shown.View, int(int64(contents)*int64(shown.View)/int64(shown.Tokens))
	}
	if len(s.requests) >= maxBranches {
		clear(s.requests)
	}
	if s.requests[branch] == nil {
		s.requests[branch] = map[string]request{}
	}
	s.requests[branch][agent] = request{view: estimate, contents: contents, fixed: fixed, masked: max(0, masked), asked: asked}
	return true
}

func (s *Session) requestsIn(branch string) map[string]request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests[branch])
}

// noteEstimate notes the estimate of the view that a branch sees.
func (s *Session) noteEstimate(branch string, estimate int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.estimates) >= maxBranches {
		clear(s.estimates)
	}
	s.estimates[branch] = estimate
}

// agents returns what is known of the agents in a branch, for a tally to add to.
func (s *Session) agents(branch string) map[string]*agentTally {
	s.mu.Lock()
	defer s.mu.Unlock()
	agents := map[string]*agentTally{}
	for name, f := range s.fits[branch] {
		agents[name] = &agentTally{fit: f}
		if sent := s.sent[branch][name]; len(sent) > 0 {
			agents[name].fixed = sent[len(sent)-1].fixed
		}
	}
	return agents
}

// learn keeps what a tally knows of its agents.
func (s *Session) learn(t *tally) {
	if len(t.agents) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fits := map[string]fit{}
	for name, agent := range t.agents {
		fits[name] = agent.fit
	}
	s.fits[t.branch] = fits
}

// isNews takes in the verdict on an agent's count and reports whether it is to be reported.
func (s *Session) isNews(agent string, v verdict) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubts[agent] == nil {
		s.doubts[agent] = &doubts{}
	}
	return s.doubts[agent].isNews(v)
}
