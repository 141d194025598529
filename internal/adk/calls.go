package adk

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"
)

// requestCredential is the call by which ADK asks the user for a credential. ADK exports no name for it.
const requestCredential = "adk_request_credential"

// In returns the function calls of an event, nil-safe.
func FunctionCalls(ev *session.Event) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	for _, part := range parts(ev) {
		if part != nil && part.FunctionCall != nil {
			out = append(out, part.FunctionCall)
		}
	}
	return out
}

// ResponsesIn returns the function responses of an event, nil-safe.
func FunctionResponses(ev *session.Event) []*genai.FunctionResponse {
	var out []*genai.FunctionResponse
	for _, part := range parts(ev) {
		if part != nil && part.FunctionResponse != nil {
			out = append(out, part.FunctionResponse)
		}
	}
	return out
}

// Answers reports whether the response in event response answers a call in event call for good
// even when that call is long-running or waits for a confirmation: it comes from another invocation
// or from the user. The placeholder that ADK stores at once is neither.
func Answers(call, response *session.Event) bool {
	return response.InvocationID != call.InvocationID || response.Author == "user"
}

func parts(ev *session.Event) []*genai.Part {
	if ev == nil || ev.Content == nil {
		return nil
	}
	return ev.Content.Parts
}

// needsTrueAnswer reports whether a call is of a kind whose first response is only a placeholder.
func needsTrueAnswer(ev *session.Event, call *genai.FunctionCall) bool {
	return call.Name == toolconfirmation.FunctionCallName || call.Name == requestCredential ||
		slices.Contains(ev.LongRunningToolIDs, call.ID)
}

// confirmedCall returns the ID of the call that a confirmation request is about, "" if there is none.
func confirmedCall(call *genai.FunctionCall) string {
	if call.Name != toolconfirmation.FunctionCallName {
		return ""
	}
	original, err := toolconfirmation.OriginalCallFrom(call)
	if err != nil || original == nil {
		return ""
	}
	return original.ID
}
