package compaction

import (
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
	st := s.states.of(SessionRef{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()})
	if st.prompts.Requested(ctx.Branch(), ctx.AgentName(), contents, fixed) {
		s.remember(st)
	}
	return nil, nil
}
