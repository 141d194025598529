package meter

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// sentPrompt is the prompt behind a provider's count. It is noted when the count comes in: later the view
// may have changed, and what masking took out of that prompt cannot be told from it any more. For example,
// in estimated tokens:
//
//	the view has 1,000, and 600 were masked        the provider counts 450
//	a compaction changes the view                  450 was the count of 400, not of 1,000
type sentPrompt struct {
	by record.Ref // the event that has the count
	// contents is the estimate of what was sent, -1 if no request was measured.
	contents int
	// fixed is the size of the fixed part at that time, 0 if it was not known.
	fixed int
}

// isOf reports whether the count is that of an event. Backends may cut the time of an event.
func (p sentPrompt) isOf(ev record.Ref) bool {
	if p.by.ID != "" || ev.ID != "" {
		return p.by.ID == ev.ID
	}
	return p.by.AltKey() == ev.AltKey()
}

// noteSent notes the prompt behind the count of an event, and returns what is noted: the first note of
// an event counts. It keeps as many for each agent as a fit goes by.
func (s *Session) noteSent(branch, agent string, p sentPrompt) sentPrompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	noted := s.sent[branch][agent]
	if i := slices.IndexFunc(noted, func(other sentPrompt) bool { return other.isOf(p.by) }); i >= 0 {
		return noted[i]
	}
	if len(s.sent) >= maxBranches {
		clear(s.sent)
	}
	if s.sent[branch] == nil {
		s.sent[branch] = map[string][]sentPrompt{}
	}
	if len(noted) >= recentCounts {
		noted = slices.Delete(noted, 0, 1)
	}
	s.sent[branch][agent] = append(noted, p)
	return p
}

// sentFor returns the noted prompt behind the count of an event.
func (s *Session) sentFor(branch string, ev *session.Event) (sentPrompt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	noted := s.sent[branch][ev.Author]
	if len(noted) == 0 {
		return sentPrompt{}, false
	}
	by := record.RefTo(ev)
	i := slices.IndexFunc(noted, func(p sentPrompt) bool { return p.isOf(by) })
	if i < 0 {
		return sentPrompt{}, false
	}
	return noted[i], true
}

// sent returns the estimate of the prompt behind an event, given the estimate of the view at that time.
func (t *tally) sent(ev *session.Event, estimate int) int {
	if p, ok := t.session.sentFor(t.branch, ev); ok && p.contents >= 0 {
		return p.contents
	}
	return t.request(ev.Author).of(estimate)
}

// noteCounts notes the prompts behind the newest counts of the branch's agents.
func (t *tally) noteCounts() {
	for name, agent := range t.agents {
		if agent.by != nil {
			p := t.session.noteSent(t.branch, name, sentPrompt{by: record.RefTo(agent.by), contents: agent.sent, fixed: t.fixed(name)})
			agent.fixed, agent.by = p.fixed, nil
		}
	}
}
