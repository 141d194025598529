package integration_test

import (
	"fmt"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// refusals returns the reasons why a provider would reject a request with HTTP 400, as documented
// by Gemini, OpenAI and Anthropic or observed. branches is true if agents work in branches: a
// question that all of them see is summarized in its own branch, so an answer in another branch may
// directly precede a call.
func refusals(contents []*genai.Content, branches bool) []string {
	problems := requests.Pairs(contents)
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(contents) == 0 || contents[0].Role != genai.RoleUser {
		add("the request does not begin with a turn of the user")
	}
	var before *genai.Content
	for i, content := range contents {
		calls, responses := requests.Calls(content), requests.Responses(content)
		switch {
		case content.Role != genai.RoleUser && content.Role != genai.RoleModel:
			add("content %d has role %q", i, content.Role)
		case len(content.Parts) == 0:
			add("content %d says nothing", i)
		case len(calls) > 0 && content.Role != genai.RoleModel:
			add("content %d calls tools in the role of %q", i, content.Role)
		case len(responses) > 0 && content.Role != genai.RoleUser:
			add("content %d responds in the role of %q", i, content.Role)
		case len(calls) > 0 && len(responses) > 0:
			add("content %d calls tools and responds", i)
		case len(calls) > 0 && !branches && (before == nil || before.Role != genai.RoleUser):
			add("content %d calls tools, and not directly behind a turn of the user", i)
		case len(responses) > 0 && (before == nil || len(requests.Calls(before)) != len(responses)):
			add("content %d does not respond to each call before it once", i)
		}
		for k, part := range content.Parts {
			if k < len(responses) && part.FunctionResponse == nil {
				add("content %d says something in front of a response", i)
				break
			}
		}
		before = content
	}
	if before != nil && before.Role != genai.RoleUser {
		add("the request ends with a turn of the model")
	}
	return problems
}
