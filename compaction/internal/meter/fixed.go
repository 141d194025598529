package meter

import "github.com/adk-go-ext/longsession/internal/survive"

// Every prompt of an agent begins with a fixed part: its instruction and its tools. The service learns
// its size from three sources, and the latest one counts:
//
//	Config.Fixed      what the app knows now
//	a request         what was measured; until Fixed returns another number than it did at that time
//	a count           has the fixed part of that time in it; what it has changed by since is added
//
// For example, in estimated tokens, of an agent whose view has 1,000:
//
//	Fixed returns 5,000                                the prompt is taken for 6,000
//	a request is measured with a fixed part of 5,400   6,400
//	the provider counts 7,000 for it                   7,000
//	a tool is added, and Fixed returns 6,000           7,600

// Fixed returns the size of the fixed part of an agent's prompts in estimated tokens, 0 if it is not
// known. agent is "" if it is not known which agent speaks in a branch.
type Fixed func(agent, branch string) int

// ask returns the result of the app's Fixed function. A panic means that it does not know.
func (s *Session) ask(agent, branch string) (tokens int) {
	if s.fixed == nil {
		return 0
	}
	defer survive.Else("compaction: Config.Fixed", func() { tokens = 0 })
	return max(0, s.fixed(agent, branch))
}

// Expect notes which agent is about to speak in a branch.
func (s *Session) Expect(agent, branch string) {
	if s.fixed == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.expected) >= maxBranches {
		clear(s.expected)
	}
	s.expected[branch] = agent
}

func (s *Session) expectedIn(branch string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expected[branch]
}

// fixed returns the size of the fixed part of an agent's next prompt, 0 if it is not known.
func (t *tally) fixed(agent string) int {
	asked := t.session.ask(agent, t.branch)
	request := t.request(agent)
	if request != nil && (asked == 0 || asked == request.asked) {
		return request.fixed
	}
	return asked
}

// fixedChange returns by how many counted tokens an agent's fixed part has changed since the provider's
// last count, 0 if that is not known.
func (t *tally) fixedChange(agent string) int {
	a := t.agents[agent]
	now := t.fixed(agent)
	if a.fixed == 0 || now == 0 {
		return 0
	}
	line := a.fit.Line()
	if now < a.fixed {
		return -line.More(a.fixed - now)
	}
	return line.More(now - a.fixed)
}

// unmeasured returns the agents of the branch for which neither a count nor a request is known: those that
// have spoken, and the one that is about to speak.
func (t *tally) unmeasured() []string {
	var names []string
	add := func(name string) {
		if _, requested := t.requests[name]; !requested && t.agents[name] == nil {
			names = append(names, name)
		}
	}
	for name := range t.speakers {
		add(name)
	}
	expected := t.session.expectedIn(t.branch)
	if !t.speakers[expected] && (expected != "" || len(t.speakers) == 0) {
		add(expected)
	}
	return names
}
