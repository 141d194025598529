package compaction

import (
	"maps"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// ObserveRequest tells the service what a request really holds, for apps whose plugins or callbacks
// shorten requests on their way to the model (truncate results, mask or drop messages). Without it, and
// where the provider reports no usage, the service measures the view and compacts what was never sent.
//
// It has the form of a BeforeModelCallback, for the last plugin of a runner:
//
//	plugin.New(plugin.Config{Name: "observe", BeforeModelCallback: sessions.ObserveRequest})
//
// It changes nothing, always returns nil, nil, and may be called from several goroutines. What it
// learns is kept for each agent and branch of a session, in this process, like everything that it
// learns of a session.
func (s *CompactionSessionService) ObserveRequest(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	if isNil(ctx) || req == nil {
		return nil, nil
	}
	contents, fixed := promptsize.OfRequest(req)
	now := sent{contents: contents, fixed: fixed}
	st := s.states.of(SessionRef{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()})
	if st.noteRequest(ctx.Branch(), ctx.AgentName(), now) {
		s.remember(st)
	}
	return nil, nil
}

// maxBranches bounds for how many branches of a session requests are remembered.
const maxBranches = 64

// noteRequest notes what an agent is sent. It reports false where no trigger is on, or no event has come
// in: then there is nothing to compare with.
func (st *sessionState) noteRequest(branch, agent string, now sent) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if now.view = st.memory.measured[branch]; now.view <= 0 {
		return false
	}
	if st.memory.requests == nil || len(st.memory.requests) >= maxBranches {
		st.memory.requests = map[string]map[string]sent{}
	}
	if st.memory.requests[branch] == nil {
		st.memory.requests[branch] = map[string]sent{}
	}
	st.memory.requests[branch][agent] = now
	return true
}

// noteMeasured notes the estimate of the view that a branch sees.
func (st *sessionState) noteMeasured(branch string, estimate int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.measured == nil || len(st.memory.measured) >= maxBranches {
		st.memory.measured = map[string]int{}
	}
	st.memory.measured[branch] = estimate
}

// requestsIn returns what agents in the branch were last sent.
func (st *sessionState) requestsIn(branch string) map[string]sent {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.memory.requests[branch])
}
