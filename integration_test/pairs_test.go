package integration_test

import (
	"fmt"
	"slices"

	"google.golang.org/genai"
)

// pairProblems returns reasons for a provider to reject a request: calls that the next content does
// not answer, and responses without a call. The tools of these tests repeat their argument n in the
// response, so that swapped responses are detected too.
func pairProblems(contents []*genai.Content) []string {
	var problems []string
	var open []*genai.FunctionCall
	for i, content := range contents {
		for _, response := range responsesIn(content) {
			at := slices.IndexFunc(open, func(call *genai.FunctionCall) bool { return matches(call, response) })
			if at < 0 {
				problems = append(problems, fmt.Sprintf("content %d: a response of %s for n=%v answers no call before it", i, response.Name, response.Response["n"]))
				continue
			}
			open = slices.Delete(open, at, at+1)
		}
		for _, call := range open {
			problems = append(problems, fmt.Sprintf("content %d: the call of %s for n=%v before it is not answered", i, call.Name, call.Args["n"]))
		}
		open = callsIn(content)
	}
	if len(open) > 0 {
		problems = append(problems, fmt.Sprintf("the request ends with %d unanswered calls", len(open)))
	}
	return problems
}

// matches reports whether a response may answer a call. ADK removes its own IDs from requests, so
// name and argument decide. A failed tool does not repeat its argument.
func matches(call *genai.FunctionCall, response *genai.FunctionResponse) bool {
	asked, ok := call.Args["n"]
	answered, both := response.Response["n"]
	return call.Name == response.Name && (!ok || !both || fmt.Sprint(asked) == fmt.Sprint(answered))
}

func callsIn(content *genai.Content) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	if content != nil {
		for _, part := range content.Parts {
			if part.FunctionCall != nil {
				out = append(out, part.FunctionCall)
			}
		}
	}
	return out
}

func responsesIn(content *genai.Content) []*genai.FunctionResponse {
	var out []*genai.FunctionResponse
	if content != nil {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				out = append(out, part.FunctionResponse)
			}
		}
	}
	return out
}
