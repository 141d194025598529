package adk

import (
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"
)

// requestCredential is the call by which ADK asks the user for a credential. ADK exports no name
// for it: requestEUCFunctionCallName in internal/llminternal/contents_processor.go.
const requestCredential = "adk_request_credential"

// IsRequest reports whether a call or a response of that name is one of ADK's own requests to the user: for a
// confirmation, a credential, an input. ADK keeps them out of prompts, and acts on what the session says of them.
func IsRequest(name string) bool { return strings.HasPrefix(name, "adk_request_") }

// requestInput is the call by which a node of a workflow asks the user: WorkflowInputFunctionCallName in
// workflow/request_input.go. Only ADK v2 has it.
const requestInput = "adk_request_input"

// AnswersInput reports whether an event of the user answers a node of a workflow that has asked. It is false for nil.
func AnswersInput(ev *session.Event) bool {
	return ev != nil && ev.Author == "user" && slices.ContainsFunc(FunctionResponses(ev), func(r *genai.FunctionResponse) bool { return r.Name == requestInput })
}

// AsksBySchema reports whether a node of a workflow asks the user for an answer that matches a schema: schemaFromEvent in
// workflow/persistence.go.
func AsksBySchema(ev *session.Event) bool {
	return slices.ContainsFunc(FunctionCalls(ev), func(c *genai.FunctionCall) bool { return c.Name == requestInput && c.Args["responseSchema"] != nil })
}

// FunctionCalls returns the function calls of an event, nil for a nil event.
func FunctionCalls(ev *session.Event) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	for _, part := range parts(ev) {
		if part != nil && part.FunctionCall != nil {
			out = append(out, part.FunctionCall)
		}
	}
	return out
}

// FunctionResponses returns the function responses of an event, nil for a nil event.
func FunctionResponses(ev *session.Event) []*genai.FunctionResponse {
	var out []*genai.FunctionResponse
	for _, part := range parts(ev) {
		if part != nil && part.FunctionResponse != nil {
			out = append(out, part.FunctionResponse)
		}
	}
	return out
}

// CallIDs returns the IDs of an event's function calls, in order.
func CallIDs(ev *session.Event) []string {
	var ids []string
	for _, call := range FunctionCalls(ev) {
		ids = append(ids, call.ID)
	}
	return ids
}

// ResponseIDs returns the IDs of the calls that an event responds to, in order.
func ResponseIDs(ev *session.Event) []string {
	var ids []string
	for _, response := range FunctionResponses(ev) {
		ids = append(ids, response.ID)
	}
	return ids
}

func parts(ev *session.Event) []*genai.Part {
	if ev == nil || ev.Content == nil {
		return nil
	}
	return ev.Content.Parts
}

// Transcribed returns what was spoken in an event of a live session, and whether the user spoke. ADK stores both under the
// agent's name, and shows what is in an event without parts, the user's words first.
func Transcribed(ev *session.Event) (text string, byUser bool) {
	switch {
	case ev == nil || len(parts(ev)) > 0:
	case ev.InputTranscription != nil && ev.InputTranscription.Text != "":
		return ev.InputTranscription.Text, true
	case ev.OutputTranscription != nil:
		return ev.OutputTranscription.Text, false
	}
	return "", false
}

// Prompted reports whether prompts contain the calls of a function, and the responses to them. ADK
// leaves out the calls by which it asks the user for a confirmation or a credential:
// shouldExcludeEvent in internal/llminternal/contents_processor.go.
func Prompted(function string) bool {
	return function != toolconfirmation.FunctionCallName && function != requestCredential
}

// settles reports whether the response in event response settles a call in event call even when
// that call is long-running or waits for a confirmation: it comes from another invocation or from
// the user. The placeholder that ADK stores at once is neither. Where ADK resumes runs, a second response settles it too:
// that of a tool that was confirmed has the call's invocation.
//
//	bot,  turn 1: calls ship(order 7), long-running
//	bot,  turn 1: the response "pending"               settles nothing
//	user, turn 2: the response "shipped"               settles the call
func settles(call, response *session.Event) bool {
	return response.InvocationID != call.InvocationID || response.Author == userAuthor
}

// needsTrueAnswer reports whether the first response to a call is only a placeholder.
func needsTrueAnswer(ev *session.Event, call *genai.FunctionCall) bool {
	return !Prompted(call.Name) || slices.Contains(ev.LongRunningToolIDs, call.ID)
}

// ConfirmedCall returns the ID of the call that a confirmation request is about, "" if there is
// none.
func ConfirmedCall(call *genai.FunctionCall) string {
	if call.Name != toolconfirmation.FunctionCallName {
		return ""
	}
	original, err := toolconfirmation.OriginalCallFrom(call)
	if err != nil || original == nil {
		return ""
	}
	return original.ID
}
