package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/openai"
)

// sent returns what a server is sent for a request.
func sent(t *testing.T, req *model.LLMRequest) (got struct {
	Messages []map[string]any `json:"messages"`
	Tools    []map[string]any `json:"tools"`
	Stream   bool             `json:"stream"`
}) {
	t.Helper()
	cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`)
	})
	if _, _, err := ask(t, cfg, req, false); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestResponsesFindTheirCallsByName where neither has an ID: tools that run at once end in any order.
func TestResponsesFindTheirCallsByName(t *testing.T) {
	t.Parallel()
	got := sent(t, &model.LLMRequest{Contents: []*genai.Content{
		{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Name: "a"}}, {FunctionCall: &genai.FunctionCall{Name: "b"}}}},
		{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "b"}}, {FunctionResponse: &genai.FunctionResponse{Name: "a"}}}},
	}})
	var ids []any
	for _, m := range got.Messages[1:] {
		ids = append(ids, m["tool_call_id"])
	}
	if diff := cmp.Diff([]any{"call_2", "call_1"}, ids); diff != "" {
		t.Error(diff)
	}
}

// TestThoughtsAreNotSentBack: an assistant message with neither text nor calls is refused by many servers.
func TestThoughtsAreNotSentBack(t *testing.T) {
	t.Parallel()
	thought := &genai.Part{Text: "Let me see.", Thought: true}
	got := sent(t, &model.LLMRequest{Contents: []*genai.Content{
		genai.NewContentFromText("hello", genai.RoleUser),
		{Role: genai.RoleModel, Parts: []*genai.Part{thought}},
		{Role: genai.RoleModel, Parts: []*genai.Part{thought, genai.NewPartFromText("It is 7.")}},
	}})
	want := []map[string]any{{"role": "user", "content": "hello"}, {"role": "assistant", "content": "It is 7."}}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Error(diff)
	}
}

// TestASchemaHasOnlyWordsOfJSONSchema, at each depth: strict servers refuse others.
func TestASchemaHasOnlyWordsOfJSONSchema(t *testing.T) {
	t.Parallel()
	inner := &genai.Schema{Type: genai.TypeObject, PropertyOrdering: []string{"n"}, Properties: map[string]*genai.Schema{"n": {Type: genai.TypeInteger, Nullable: genai.Ptr(false)}}}
	got := sent(t, &model.LLMRequest{Contents: hello.Contents, Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, {
		FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "a", Parameters: &genai.Schema{
			Type: genai.TypeObject, PropertyOrdering: []string{"many", "one"}, Properties: map[string]*genai.Schema{
				"many": {Type: genai.TypeArray, Items: inner, MaxItems: genai.Ptr[int64](3)},
				"one":  {AnyOf: []*genai.Schema{inner, {Type: genai.TypeString}}},
			},
		}}, {Name: "b"}},
	}}}})
	var want []map[string]any
	if err := json.Unmarshal([]byte(`[
		{"type":"function","function":{"name":"a","description":"","parameters":{"type":"object","properties":{
			"many":{"type":"array","maxItems":3,"items":{"type":"object","properties":{"n":{"type":"integer"}}}},
			"one":{"anyOf":[{"type":"object","properties":{"n":{"type":"integer"}}},{"type":"string"}]}}}}},
		{"type":"function","function":{"name":"b","description":"","parameters":{"type":"object","properties":{}}}}]`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Tools); diff != "" {
		t.Error(diff)
	}
}

// TestCallsOfOneIndexAreKeptApart: some servers give each call of an answer the index 0.
func TestCallsOfOneIndexAreKeptApart(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\":1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c2","function":{"name":"b","arguments":"{\"x\":2}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`)
	})
	_, whole, err := ask(t, cfg, hello, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []*genai.Part{
		{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "a", Args: map[string]any{"x": 1.0}}},
		{FunctionCall: &genai.FunctionCall{ID: "c2", Name: "b", Args: map[string]any{"x": 2.0}}},
	}
	if diff := cmp.Diff(want, whole.Content.Parts); diff != "" || !whole.TurnComplete {
		t.Errorf("%s, turn complete: %v", diff, whole.TurnComplete)
	}
}

// TestFragmentsWithoutAnIDBelongToTheNewestCall of their index.
func TestFragmentsWithoutAnIDBelongToTheNewestCall(t *testing.T) {
	t.Parallel()
	call := func(id, name, arguments string) string {
		return `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"` + id + `","function":{"name":"` + name + `","arguments":` + strconv.Quote(arguments) + `}}]}}]}`
	}
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, call("c1", "a", `{"x"`), call("", "", `:1}`), call("c2", "b", `{"x"`), call("", "", `:2}`),
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`)
	})
	_, whole, err := ask(t, cfg, hello, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []*genai.Part{
		{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "a", Args: map[string]any{"x": 1.0}}},
		{FunctionCall: &genai.FunctionCall{ID: "c2", Name: "b", Args: map[string]any{"x": 2.0}}},
	}
	if diff := cmp.Diff(want, whole.Content.Parts); diff != "" {
		t.Error(diff)
	}
}

// TestAReportOfZerosTakesNothingBack: the largest report of a stream counts.
func TestAReportOfZerosTakesNothingBack(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50}}`,
			`{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`, `[DONE]`)
	})
	_, whole, err := ask(t, cfg, hello, true)
	if err != nil {
		t.Fatal(err)
	}
	if u := whole.UsageMetadata; u == nil || u.PromptTokenCount != 1000 || u.CandidatesTokenCount != 50 {
		t.Errorf("the usage is %+v", u)
	}
}

// TestAPageOfAnyTypeIsNoMessage: proxies send pages without the type of one.
func TestAPageOfAnyTypeIsNoMessage(t *testing.T) {
	t.Parallel()
	for kind, page := range map[string]string{"text/plain": "\n<html><h1>502 Bad Gateway", "application/xhtml+xml": "<?xml", "text/html; charset=utf-8": "Oops"} {
		cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, page)
		})
		_, _, err := ask(t, cfg, hello, true)
		if err == nil || !strings.Contains(err.Error(), "status 502: a web page instead of JSON; check the base URL") || strings.Contains(err.Error(), "<") {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}

// TestABaseURLMayHaveMoreThanAPath, as one that was copied from a browser.
func TestABaseURLMayHaveMoreThanAPath(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.URL.RawQuery != "" {
			t.Errorf("request to %s", r.URL)
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`)
	})
	for _, end := range []string{"", "/", "?a=1", "/#top", " "} {
		at := cfg
		at.BaseURL += end
		if _, err := openai.New(at); err != nil {
			t.Errorf("%q: %v", end, err)
			continue
		}
		if _, _, err := ask(t, at, hello, false); err != nil {
			t.Errorf("%q: %v", end, err)
		}
	}
}
