package writer

import (
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/summarizer"
)

// readOnly returns the same request over the stored events. A summarizer may change the copies that
// it is given; its answer is judged by what they were.
func readOnly(req summarizer.Request, events []*session.Event) summarizer.Request {
	req.Summaries = slices.Clone(req.Summaries)
	req.Events = make([]*session.Event, len(events))
	for i, ev := range events {
		req.Events[i] = readable(ev)
	}
	return req
}

// copyOf copies what a summarizer may read of an event, so that nothing it does reaches the stored
// event.
func copyOf(ev *session.Event) *session.Event { return adk.DeepCopy(readable(ev)) }

// readable returns what a summarizer may read of an event, field by field. It shares the event's
// values.
func readable(ev *session.Event) *session.Event {
	return &session.Event{
		ID:           ev.ID,
		Timestamp:    ev.Timestamp,
		InvocationID: ev.InvocationID,
		Branch:       ev.Branch,
		Author:       ev.Author,
		LLMResponse: model.LLMResponse{
			Content:             ev.Content,
			InputTranscription:  ev.InputTranscription,
			OutputTranscription: ev.OutputTranscription,
			ErrorCode:           ev.ErrorCode,
			ErrorMessage:        ev.ErrorMessage,
		},
		Actions:            session.EventActions{StateDelta: ev.Actions.StateDelta},
		LongRunningToolIDs: ev.LongRunningToolIDs,
	}
}
