package compaction

import (
	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// ObserveRequest measures the request that is really sent, for apps whose plugins or callbacks
// shorten requests on their way to the model (truncate results, mask or drop messages). Without it,
// if the provider reports no usage, the service measures the view and may compact text that was
// never sent.
//
// It has the form of a BeforeModelCallback, for the last plugin of a runner:
//
//	plugin.New(plugin.Config{Name: "observe", BeforeModelCallback: sessions.ObserveRequest})
//
// It changes nothing, always returns nil, nil, and may be called from several goroutines. The sizes
// are remembered in this process, for each agent and lane of a session.
func (s *CompactionSessionService) ObserveRequest(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	if adk.IsNil(ctx) || req == nil {
		return nil, nil
	}
	contents, fixed := promptsize.OfRequest(req)
	ref := adk.SessionRef{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()}
	s.engine.Requested(ref, adk.ContextLane(ctx), ctx.AgentName(), contents, fixed, 0)
	return nil, nil
}

// ObserveSent is [CompactionSessionService.ObserveRequest] for a wrapper of the model, which sees the
// request that is really sent, after every plugin and callback. masked is how many estimated tokens
// masking took out of the contents of this request: old tool results that the view still shows in
// full. They were not sent, so they are no reason to compact, and the provider's count of this
// request is compared with what was left.
//
// If ObserveRequest has measured the same call, ObserveSent replaces its figures. It changes
// nothing, ignores sessions that the service does not know, such as those of an agent that runs as
// a tool, never panics, and may be called from several goroutines.
func (s *CompactionSessionService) ObserveSent(ctx agent.InvocationContext, req *model.LLMRequest, masked int) {
	defer s.reporter.Places.Survive("compaction: the size of a sent request") // a fake context may lack an agent or a session
	if adk.IsNil(ctx) || req == nil {
		return
	}
	_, h := s.sessions.Peel(ctx.Session())
	if h == nil {
		return
	}
	h.CatchUp() // a compaction may have ended since the last append
	h.Meter.Prompt(adk.LaneOf(ctx))
	contents, fixed := promptsize.OfRequest(req)
	s.engine.Requested(h.State.Ref, adk.LaneOf(ctx), ctx.Agent().Name(), contents, fixed, masked)
}
