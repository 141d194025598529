// Package requests checks requests to a model as strictly as the strictest provider does.
package requests

import (
	"fmt"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// Problems returns reasons for a provider to reject the contents of a request: those of [Pairs], contents
// without parts, wrong roles, a model that speaks first, last, or calls a tool right after its own words.
func Problems(contents []*genai.Content) []string {
	var problems []string
	before := ""
	for i, c := range contents {
		problem := func(text string) { problems = append(problems, fmt.Sprintf("content %d: %s", i, text)) }
		if c == nil || len(c.Parts) == 0 || slices.Contains(c.Parts, nil) {
			problem("nil, or without parts, or with a nil part")
			continue
		}
		calls, responses := len(Calls(c)), len(Responses(c))
		switch {
		case c.Role != genai.RoleUser && c.Role != genai.RoleModel:
			problem(fmt.Sprintf("role %q", c.Role))
		case c.Role == genai.RoleUser && calls > 0:
			problem("a call in the role of the user")
		case c.Role == genai.RoleModel && responses > 0:
			problem("a response in the role of the model")
		case i == 0 && c.Role == genai.RoleModel:
			problem("the model speaks first")
		case calls > 0 && before == genai.RoleModel:
			problem("a call right behind words of the model")
		case i == len(contents)-1 && c.Role == genai.RoleModel:
			problem("the model speaks last")
		}
		before = c.Role
	}
	return append(problems, Pairs(contents)...)
}

// Pairs returns reasons for a provider to reject a request: calls that the next content does not answer,
// and responses without a call. A tool of a test may repeat its argument n in the response, so that
// swapped responses are detected too.
func Pairs(contents []*genai.Content) []string {
	var problems []string
	var open []*genai.FunctionCall
	for i, content := range contents {
		for _, response := range Responses(content) {
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
		open = Calls(content)
	}
	if len(open) > 0 {
		problems = append(problems, fmt.Sprintf("the request ends with %d unanswered calls", len(open)))
	}
	return problems
}

// Undeclared returns the calls and responses in a request whose tools it does not declare. Some providers
// reject those, too.
func Undeclared(req *model.LLMRequest) []string {
	declared := map[string]bool{}
	if req.Config != nil {
		for _, t := range req.Config.Tools {
			if t == nil {
				continue
			}
			for _, d := range t.FunctionDeclarations {
				if d != nil {
					declared[d.Name] = true
				}
			}
		}
	}
	var problems []string
	for i, content := range req.Contents {
		for _, call := range Calls(content) {
			if !declared[call.Name] {
				problems = append(problems, fmt.Sprintf("content %d: a call of %s, which is not declared", i, call.Name))
			}
		}
		for _, response := range Responses(content) {
			if !declared[response.Name] {
				problems = append(problems, fmt.Sprintf("content %d: a response of %s, which is not declared", i, response.Name))
			}
		}
	}
	return problems
}

// matches reports whether a response may answer a call. ADK removes its own IDs from requests, so
// name and argument decide where one of them has none. A failed tool does not repeat its argument.
func matches(call *genai.FunctionCall, response *genai.FunctionResponse) bool {
	if call.ID != "" && response.ID != "" && call.ID != response.ID {
		return false
	}
	asked, ok := argument(call)
	answered, both := response.Response["n"]
	return call.Name == response.Name && (!ok || !both || fmt.Sprint(asked) == fmt.Sprint(answered))
}

// argument returns the argument n of a call. In a call of tool_call it is among those of the tool that is
// called through it.
func argument(call *genai.FunctionCall) (n any, ok bool) {
	if n, ok = call.Args["n"]; !ok && call.Name == "tool_call" {
		nested, _ := call.Args["arguments"].(map[string]any)
		n, ok = nested["n"]
	}
	return n, ok
}

// Calls returns the function calls in a content, nil for none and for nil.
func Calls(content *genai.Content) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	if content != nil {
		for _, part := range content.Parts {
			if part != nil && part.FunctionCall != nil {
				out = append(out, part.FunctionCall)
			}
		}
	}
	return out
}

// Responses returns the function responses in a content, nil for none and for nil.
func Responses(content *genai.Content) []*genai.FunctionResponse {
	var out []*genai.FunctionResponse
	if content != nil {
		for _, part := range content.Parts {
			if part != nil && part.FunctionResponse != nil {
				out = append(out, part.FunctionResponse)
			}
		}
	}
	return out
}
