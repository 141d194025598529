package requests_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

func TestEachReasonToRejectARequestIsFound(t *testing.T) {
	t.Parallel()
	user := genai.NewContentFromText("hi", genai.RoleUser)
	said := genai.NewContentFromText("hello", genai.RoleModel)
	call := func(n ...int) *genai.Content {
		c := &genai.Content{Role: genai.RoleModel}
		for _, n := range n {
			c.Parts = append(c.Parts, genai.NewPartFromFunctionCall("look", map[string]any{"n": n}))
		}
		return c
	}
	answer := func(n ...int) *genai.Content {
		c := &genai.Content{Role: genai.RoleUser}
		for _, n := range n {
			c.Parts = append(c.Parts, genai.NewPartFromFunctionResponse("look", map[string]any{"n": n}))
		}
		return c
	}
	named := func(id, name string, c *genai.Content) *genai.Content {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				p.FunctionCall.ID, p.FunctionCall.Name = id, name
			} else {
				p.FunctionResponse.ID, p.FunctionResponse.Name = id, name
			}
		}
		return c
	}
	through := func(n int) *genai.Content {
		return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("tool_call", map[string]any{"name": "look", "arguments": map[string]any{"n": n}})}}
	}
	as := func(role string, c *genai.Content) *genai.Content { return &genai.Content{Role: role, Parts: c.Parts} }
	for _, r := range []struct {
		name     string
		contents []*genai.Content
		want     string // part of the only problem, "" for none
	}{
		{"a conversation", []*genai.Content{user, call(1, 2), answer(1, 2), call(3), answer(3), said, user}, ""},
		{"nil", []*genai.Content{user, nil}, "content 1: nil"},
		{"no parts", []*genai.Content{user, {Role: genai.RoleUser}}, "content 1: nil"},
		{"a nil part", []*genai.Content{user, {Role: genai.RoleUser, Parts: []*genai.Part{nil}}}, "content 1: nil"},
		{"no role", []*genai.Content{as("", user)}, `role ""`},
		{"a user that calls", []*genai.Content{user, as(genai.RoleUser, call(1)), answer(1)}, "a call in the role of the user"},
		{"a model that answers", []*genai.Content{user, call(1), as(genai.RoleModel, answer(1)), user}, "a response in the role of the model"},
		{"the model first", []*genai.Content{said, user}, "the model speaks first"},
		{"the model last", []*genai.Content{user, said}, "the model speaks last"},
		{"a call behind words", []*genai.Content{user, said, call(1), answer(1)}, "a call right behind words"},
		{"no answer", []*genai.Content{user, call(1, 2), answer(2)}, "the call of look for n=1 before it is not answered"},
		{"a swapped answer", []*genai.Content{user, call(1), answer(1), call(1), answer(1, 3)}, "a response of look for n=3"},
		{"another name", []*genai.Content{user, call(1), named("", "peek", answer(1))}, "a response of peek"},
		{"another ID", []*genai.Content{user, named("a", "look", call(1)), named("b", "look", answer(1))}, "answers no call before it"},
		{"the ID of the call only", []*genai.Content{user, named("a", "look", call(1)), answer(1)}, ""},
		{"through tool_call", []*genai.Content{user, through(1), named("", "tool_call", answer(2))}, "answers no call before it"},
		{"an open end", []*genai.Content{user, user, call(1)}, "the request ends with 1 unanswered"},
	} {
		got := requests.Problems(r.contents)
		if r.want == "" && len(got) > 0 || r.want != "" && !strings.Contains(strings.Join(got, "\n"), r.want) {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
}

func TestUndeclaredToolsAreFound(t *testing.T) {
	t.Parallel()
	contents := []*genai.Content{nil,
		genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionCall("look", nil), genai.NewPartFromFunctionCall("peek", nil)}, genai.RoleModel),
		genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionResponse("look", nil), genai.NewPartFromFunctionResponse("peek", nil)}, genai.RoleUser)}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, {FunctionDeclarations: []*genai.FunctionDeclaration{nil, {Name: "look"}}}}}
	if got := requests.Undeclared(&model.LLMRequest{Contents: contents, Config: config}); len(got) != 2 || !strings.Contains(got[0], "content 1: a call of peek") || !strings.Contains(got[1], "content 2: a response of peek") {
		t.Errorf("%q", got)
	}
	if got := requests.Undeclared(&model.LLMRequest{Contents: contents}); len(got) != 4 {
		t.Errorf("%q", got)
	}
}
