package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/openai"
)

// serve starts a server that answers each request with the handler.
func serve(t *testing.T, handler http.HandlerFunc) openai.Config {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return openai.Config{Model: "local", BaseURL: s.URL + "/v1", Key: "secret"}
}

func stream(w http.ResponseWriter, parts ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range parts {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", p)
		w.(http.Flusher).Flush()
	}
}

func ask(t *testing.T, cfg openai.Config, req *model.LLMRequest, streamed bool) (parts []string, whole *model.LLMResponse, failure error) {
	t.Helper()
	m, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for resp, err := range m.GenerateContent(t.Context(), req, streamed) {
		switch {
		case err != nil:
			failure = err
		case resp.Partial:
			parts = append(parts, resp.Content.Parts[0].Text)
		default:
			whole = resp
		}
	}
	return parts, whole, failure
}

var hello = &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("hello", genai.RoleUser)}}

func TestAStreamedAnswer(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("request to %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		stream(w, `{"model":"local-7b","choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"content":"Good "}}]}`,
			`{"choices":[{"delta":{"content":"日本"}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{\"id\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":7}"}},{"index":1,"id":"c2","function":{"name":"look","arguments":"{oops"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}}`, `[DONE]`)
	})
	parts, whole, err := ask(t, cfg, hello, true)
	if err != nil || strings.Join(parts, "|") != "Good |日本" {
		t.Fatalf("parts %q, error %v", parts, err)
	}
	if got := whole.Content.Parts; len(got) != 3 || got[0].Text != "Good 日本" || got[1].FunctionCall.ID != "c1" || got[1].FunctionCall.Args["id"] != 7.0 || got[2].FunctionCall.Args["malformed_arguments"] != "{oops" {
		t.Errorf("whole %+v", got)
	}
	want := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 12, CachedContentTokenCount: 4, CandidatesTokenCount: 4, ThoughtsTokenCount: 5, TotalTokenCount: 21}
	if diff := cmp.Diff(want, whole.UsageMetadata); diff != "" || whole.ModelVersion != "local-7b" || whole.FinishReason != genai.FinishReasonStop {
		t.Errorf("%s, model %q", diff, whole.ModelVersion)
	}
}

// The whole conversation is sent: each call has an ID, and its response the same one.
func TestARequestHasTheWholeConversation(t *testing.T) {
	t.Parallel()
	var got map[string]any
	cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`)
	})
	call := func(id, name string) *genai.Part {
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: map[string]any{"q": "a<b"}}}
	}
	response := func(id, name string) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: map[string]any{"result": name}}}
	}
	req := &model.LLMRequest{
		Contents: []*genai.Content{
			genai.NewContentFromText("hello", genai.RoleUser),
			{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromText("I look."), call("", "a"), call("own", "b"), call("", "a")}},
			{Role: genai.RoleUser, Parts: []*genai.Part{response("own", "b"), response("", "a"), response("", "a")}},
			{Role: genai.RoleUser, Parts: []*genai.Part{genai.NewPartFromText("see"), {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("x")}}}},
		},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Be kind.", genai.RoleUser), MaxOutputTokens: 99,
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "a", Description: "looks", Parameters: &genai.Schema{
				Type: genai.TypeObject, Properties: map[string]*genai.Schema{"q": {Type: genai.TypeString, Nullable: genai.Ptr(true), MinLength: genai.Ptr[int64](1)}},
			}}}}},
			ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}},
		},
	}
	if _, whole, err := ask(t, cfg, req, false); err != nil || whole.Content.Parts[0].Text != "done" {
		t.Fatalf("%+v, error %v", whole, err)
	}
	var want map[string]any
	err := json.Unmarshal([]byte(`{"model":"local","max_tokens":99,"tool_choice":"none","messages":[
		{"role":"system","content":"Be kind."},{"role":"user","content":"hello"},
		{"role":"assistant","content":"I look.","tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"q\":\"a<b\"}"}},
			{"id":"own","type":"function","function":{"name":"b","arguments":"{\"q\":\"a<b\"}"}},
			{"id":"call_2","type":"function","function":{"name":"a","arguments":"{\"q\":\"a<b\"}"}}]},
		{"role":"tool","tool_call_id":"own","content":"{\"result\":\"b\"}"},
		{"role":"tool","tool_call_id":"call_1","content":"{\"result\":\"a\"}"},
		{"role":"tool","tool_call_id":"call_2","content":"{\"result\":\"a\"}"},
		{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]}],
		"tools":[{"type":"function","function":{"name":"a","description":"looks","parameters":{"type":"object","properties":{"q":{"type":["string","null"],"minLength":1}}}}}]}`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAServerThatFailsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"wrong key": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key"}}`)
		}, "status 401: Incorrect API key; check the key"},
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>Welcome")
		},
			"a web page instead of JSON; check the base URL"},
		"no such model": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"model not found"}`)
		}, "model not found; check the base URL and the name of the model"},
		"a cut stream":        {func(w http.ResponseWriter, _ *http.Request) { stream(w, `{"choices":[{"delta":{"content":"Go"}}]}`) }, "cut off"},
		"an error within":     {func(w http.ResponseWriter, _ *http.Request) { stream(w, `{"error":{"message":"out of memory"}}`) }, "out of memory"},
		"broken JSON":         {func(w http.ResponseWriter, _ *http.Request) { stream(w, `{"choices":`) }, "no JSON"},
		"no choices":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }, "no choices"},
		"a text":              {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `hello`) }, "not the JSON of a completion"},
		"a closed connection": {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
	} {
		cfg := serve(t, c.handler)
		if _, _, err := ask(t, cfg, hello, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		} else if strings.Count(err.Error(), cfg.BaseURL) > 1 {
			t.Errorf("%s: the error has the address twice: %v", name, err)
		}
	}
}

// A server that accepts a request and says nothing is given up; so is one that stops in the middle.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string][]string{"from the start": nil, "in the middle": {`{"choices":[{"delta":{"content":"Go"}}]}`}} {
		ended := make(chan struct{})
		cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if begin != nil {
				stream(w, begin...)
			}
			<-ended
		})
		cfg.Idle = 50 * time.Millisecond
		_, _, err := ask(t, cfg, hello, true)
		close(ended)
		if err == nil || !strings.Contains(err.Error(), "has sent nothing for too long (50ms)") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestCanceledRequestsEnd(t *testing.T) {
	t.Parallel()
	reason := errors.New("enough")
	ended := make(chan struct{})
	defer close(ended)
	arrived := make(chan struct{})
	cfg := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-ended
	})
	m, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-arrived; cancel(reason) }()
	for _, err := range m.GenerateContent(ctx, hello, true) {
		if !errors.Is(err, reason) {
			t.Errorf("error %v", err)
		}
	}
}

func TestABadAddressIsRefused(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"": "http://", "localhost:11434": "http://", "ftp://a/v1": "http://", "http://a:b@c/v1": "in the environment"} {
		if _, err := openai.New(openai.Config{Model: "m", BaseURL: base}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", base, err)
		}
	}
	if _, err := openai.New(openai.Config{BaseURL: "http://localhost/v1"}); err == nil {
		t.Error("no model was accepted")
	}
}
