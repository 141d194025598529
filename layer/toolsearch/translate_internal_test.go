package toolsearch

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// fixed is a tool with a declaration of its own.
type fixed struct{ decl *genai.FunctionDeclaration }

var _ tool.Tool = fixed{}

func (f fixed) Name() string                                              { return f.decl.Name }
func (f fixed) Description() string                                       { return f.decl.Description }
func (fixed) IsLongRunning() bool                                         { return false }
func (f fixed) Declaration() *genai.FunctionDeclaration                   { return f.decl }
func (fixed) Run(agent.ToolContext, any) (map[string]any, error)          { return map[string]any{}, nil }
func (f fixed) ProcessRequest(agent.ToolContext, *model.LLMRequest) error { return nil }

// takes returns a tool with parameters in JSON.
func takes(name, schema string) fixed {
	decl := &genai.FunctionDeclaration{Name: name, Description: "Does " + name + "."}
	if schema != "" {
		decl.ParametersJsonSchema = json.RawMessage(schema)
	}
	return fixed{decl}
}

const weatherSchema = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"alerts":{"type":"boolean"}},"required":["city"]}`

// asked returns a request with deferred tools, and others that are declared.
func asked(deferred, declared []fixed, contents ...*genai.Content) *model.LLMRequest {
	functions := &genai.Tool{}
	req := &model.LLMRequest{Model: "m", Contents: contents, Tools: map[string]any{}, Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{functions}}}
	for _, t := range declared {
		req.Tools[t.Name()] = t
		functions.FunctionDeclarations = append(functions.FunctionDeclarations, t.decl)
	}
	var entries []entry
	for _, t := range deferred {
		req.Tools[t.Name()] = t
		entries = append(entries, entry{tool: t, decl: t.decl, category: MCP})
	}
	for _, t := range []fixed{takes(SearchToolName, ""), takes(CallToolName, "")} {
		req.Tools[t.Name()] = t
		functions.FunctionDeclarations = append(functions.FunctionDeclarations, t.decl)
	}
	req.Tools[CallToolName] = newCallTool(entries, req.Tools)
	return req
}

func user(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleUser) }

func call(id, name string, args map[string]any) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}}
}

func answer(id, name string, response map[string]any) *genai.Part {
	return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: response}}
}

func said(parts ...*genai.Part) *genai.Content {
	return &genai.Content{Role: genai.RoleModel, Parts: parts}
}

func got(parts ...*genai.Part) *genai.Content {
	return &genai.Content{Role: genai.RoleUser, Parts: parts}
}

// scripted is a model with one list of responses for each call.
type scripted struct {
	calls    [][]*model.LLMResponse
	errs     map[int]error // the call that ends with an error
	requests []*model.LLMRequest
}

func (s *scripted) Name() string { return "m" }

func (s *scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		n := len(s.requests)
		s.requests = append(s.requests, req)
		if n < len(s.calls) {
			for _, resp := range s.calls[n] {
				if !yield(resp, nil) {
					return
				}
			}
		}
		if err := s.errs[n]; err != nil {
			yield(nil, err)
		}
	}
}

// answers sends a request through a translation.
func answers(t *testing.T, s *scripted, req *model.LLMRequest) ([]*model.LLMResponse, error) {
	t.Helper()
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*model.LLMResponse
	for resp, err := range d.Translate(s).GenerateContent(t.Context(), req, true) {
		if err != nil {
			return out, err
		}
		out = append(out, resp)
	}
	return out, nil
}

func TestCallsOfDeferredToolsAreSentAsToolCall(t *testing.T) {
	t.Parallel()
	yes := true
	signed := call("", "weather", map[string]any{"city": "Rome"})
	signed.ThoughtSignature, signed.PartMetadata = []byte("sig"), map[string]any{"k": "v"}
	thought := &genai.Part{Text: "hm", Thought: true, ThoughtSignature: []byte("t")}
	streamed := call("", "weather", nil)
	streamed.FunctionCall.PartialArgs, streamed.FunctionCall.WillContinue = []*genai.PartialArg{{JsonPath: "$.city", StringValue: "Ro"}, nil}, &yes
	for name, r := range map[string]struct{ in, want []*genai.Content }{
		"a deferred tool": {
			[]*genai.Content{user("hi"), said(thought, signed), got(answer("", "weather", map[string]any{"n": 1}))},
			[]*genai.Content{user("hi"), said(thought, &genai.Part{ThoughtSignature: []byte("sig"), PartMetadata: map[string]any{"k": "v"},
				FunctionCall: &genai.FunctionCall{Name: "tool_call", Args: map[string]any{"name": "weather", "arguments": map[string]any{"city": "Rome"}}}}),
				got(answer("", "tool_call", map[string]any{"n": 1}))},
		},
		"no arguments": {
			[]*genai.Content{said(call("", "weather", nil))},
			[]*genai.Content{said(call("", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{}}))},
		},
		"declared and deferred in parallel, answered out of order": {
			[]*genai.Content{said(call("1", "read", nil), call("2", "weather", nil), call("3", "read", nil)),
				got(answer("2", "weather", nil), answer("3", "read", nil), answer("1", "read", nil))},
			[]*genai.Content{said(call("1", "read", nil), call("2", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{}}), call("3", "read", nil)),
				got(answer("2", "tool_call", nil), answer("3", "read", nil), answer("1", "read", nil))},
		},
		"answers in several contents": {
			[]*genai.Content{said(call("", "weather", nil), call("", "weather", nil)), got(answer("", "weather", nil)), got(answer("", "weather", nil))},
			[]*genai.Content{said(call("", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{}}), call("", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{}})),
				got(answer("", "tool_call", nil)), got(answer("", "tool_call", nil))},
		},
		"an answer whose name is wrong follows its ID": {
			[]*genai.Content{said(call("1", "weather", nil)), got(answer("1", "", nil))},
			[]*genai.Content{said(call("1", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{}})), got(answer("1", "tool_call", nil))},
		},
		"an answer without name and ID follows its place": {
			[]*genai.Content{said(call("", "read", nil), call("", "weather", nil)), got(answer("", "read", nil), answer("", "", nil))},
			[]*genai.Content{said(call("", "read", nil), call("", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{}})), got(answer("", "read", nil), answer("", "tool_call", nil))},
		},
		"a tool that has vanished": {
			[]*genai.Content{said(call("", "gone", nil)), got(answer("", "gone", nil))},
			[]*genai.Content{said(call("", "tool_call", map[string]any{"name": "gone", "arguments": map[string]any{}})), got(answer("", "tool_call", nil))},
		},
		"a piece of a call": {
			[]*genai.Content{said(streamed)},
			[]*genai.Content{said(&genai.Part{FunctionCall: &genai.FunctionCall{Name: "tool_call", WillContinue: &yes, Args: map[string]any{"name": "weather", "arguments": map[string]any{}},
				PartialArgs: []*genai.PartialArg{{JsonPath: "$.arguments.city", StringValue: "Ro"}, nil}}})},
		},
		"what stays": {
			[]*genai.Content{nil, user("hi"), {Role: "user"}, said(nil, call("", "read", nil)), said(call("", "tool_search", nil)), said(call("", "tool_call", map[string]any{"name": 1})),
				got(answer("", "tool_call", nil)), said(call("", "transfer_to_agent", nil)), got(answer("", "transfer_to_agent", nil)), said(call("", "adk_request_credential", nil)), said(call("", "", nil))},
			nil,
		},
	} {
		req := asked([]fixed{takes("weather", weatherSchema)}, []fixed{takes("read", "")}, r.in...)
		before := adk.DeepCopy(r.in)
		s := &scripted{}
		if _, err := answers(t, s, req); err != nil {
			t.Fatal(err)
		}
		if want := r.want; want == nil {
			if s.requests[0] != req {
				t.Errorf("%s: the request was copied", name)
			}
		} else if diff := cmp.Diff(want, s.requests[0].Contents); diff != "" {
			t.Errorf("%s: (-want +sent)\n%s", name, diff)
		}
		if diff := cmp.Diff(before, req.Contents); diff != "" {
			t.Errorf("%s: the caller's contents changed\n%s", name, diff)
		}
	}
}

func TestARequestWithoutToolCallIsPassedOn(t *testing.T) {
	t.Parallel()
	plain := asked(nil, []fixed{takes("read", "")}, said(call("", "weather", nil)))
	delete(plain.Tools, CallToolName)
	undeclared := asked([]fixed{takes("weather", "")}, nil, said(call("", "weather", nil)))
	undeclared.Config.Tools = nil
	foreign := asked([]fixed{takes("weather", "")}, nil, said(call("", "weather", nil)))
	foreign.Tools[CallToolName] = takes(CallToolName, "")
	for name, req := range map[string]*model.LLMRequest{"not offered": plain, "not declared": undeclared, "of the app": foreign, "nil": nil, "empty": {}} {
		s := &scripted{calls: [][]*model.LLMResponse{{{Content: said(call("", "tool_call", map[string]any{"name": "weather"}))}}}}
		got, err := answers(t, s, req)
		if err != nil || s.requests[0] != req || got[0] != s.calls[0][0] {
			t.Errorf("%s: the request or the response was changed: %v", name, err)
		}
	}
}

func TestTranslateWrapsOnceAndBesideSelect(t *testing.T) {
	t.Parallel()
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	once := d.Translate(&scripted{})
	if d.Translate(once) != once || d.Translate(other.Translate(once)) == once || other.Translate(once) == once {
		t.Error("a translation is not recognized, or one of another Deferral is")
	}
}

func TestTheCallOfToolCallBecomesTheRealCall(t *testing.T) {
	t.Parallel()
	part := call("id", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{"city": "Rome"}})
	part.ThoughtSignature = []byte("sig")
	text := &genai.Part{Text: "Let me see."}
	model1 := &model.LLMResponse{Content: said(text, part, call("", "read", nil)), Partial: true}
	whole := &model.LLMResponse{Content: said(text, part, call("", "read", nil)), FinishReason: genai.FinishReasonStop, UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 7}}
	before := adk.DeepCopy(whole)
	s := &scripted{calls: [][]*model.LLMResponse{{model1, whole}}}
	out, err := answers(t, s, asked([]fixed{takes("weather", weatherSchema)}, []fixed{takes("read", "")}, user("hi")))
	if err != nil || len(out) != 2 {
		t.Fatal(len(out), err)
	}
	want := said(text, &genai.Part{ThoughtSignature: []byte("sig"), FunctionCall: &genai.FunctionCall{ID: "id", Name: "weather", Args: map[string]any{"city": "Rome"}}}, call("", "read", nil))
	for _, resp := range out {
		if diff := cmp.Diff(want, resp.Content); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if out[0].Content.Parts[1].FunctionCall != out[1].Content.Parts[1].FunctionCall {
		t.Error("the call of the partial response is another than that of the whole one: ADK would give it another ID")
	}
	if out[1].FinishReason != genai.FinishReasonStop || out[1].UsageMetadata != whole.UsageMetadata {
		t.Error("the rest of the response is lost")
	}
	if diff := cmp.Diff(before, whole); diff != "" {
		t.Errorf("the model's response was changed\n%s", diff)
	}
}

var errTooLong = errors.New("the input token count exceeds the maximum number of tokens")

func TestADiscardedCallIsAskedForAgainWithEverythingDeclared(t *testing.T) {
	t.Parallel()
	discarded := func(partial bool) *model.LLMResponse {
		return &model.LLMResponse{Partial: partial, ErrorCode: "UNEXPECTED_TOOL_CALL", FinishReason: genai.FinishReasonUnexpectedToolCall, UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 7}}
	}
	emptyEnd := discarded(false)
	emptyEnd.Content = &genai.Content{Role: "model"}
	thought := &model.LLMResponse{Content: said(&genai.Part{Text: "hm", Thought: true}), Partial: true}
	thoughts := discarded(false)
	thoughts.Content = thought.Content
	spoken := &model.LLMResponse{Content: said(&genai.Part{Text: "Let me"}), Partial: true}
	usage := &model.LLMResponse{Content: &genai.Content{Role: "model", Parts: []*genai.Part{}}, Partial: true}
	whole := &model.LLMResponse{Content: said(call("", "weather", nil))}
	for name, r := range map[string]struct {
		first, second []*model.LLMResponse
		errs          map[int]error
		want          []*model.LLMResponse
		requests      int
	}{
		"at once":               {first: []*model.LLMResponse{discarded(false)}, second: []*model.LLMResponse{whole}, want: []*model.LLMResponse{whole}, requests: 2},
		"in a stream":           {first: []*model.LLMResponse{usage, discarded(true), emptyEnd}, second: []*model.LLMResponse{spoken, whole}, want: []*model.LLMResponse{spoken, whole}, requests: 2},
		"after thoughts":        {first: []*model.LLMResponse{thought, discarded(true), thoughts}, second: []*model.LLMResponse{whole}, want: []*model.LLMResponse{thought, whole}, requests: 2},
		"after words":           {first: []*model.LLMResponse{spoken, discarded(true)}, want: []*model.LLMResponse{spoken, discarded(true)}, requests: 1},
		"with content":          {first: []*model.LLMResponse{{Content: whole.Content, FinishReason: genai.FinishReasonUnexpectedToolCall}}, want: []*model.LLMResponse{{Content: whole.Content, FinishReason: genai.FinishReasonUnexpectedToolCall}}, requests: 1},
		"another reason":        {first: []*model.LLMResponse{{ErrorCode: "SAFETY", FinishReason: genai.FinishReasonSafety}}, want: []*model.LLMResponse{{ErrorCode: "SAFETY", FinishReason: genai.FinishReasonSafety}}, requests: 1},
		"once only":             {first: []*model.LLMResponse{discarded(false)}, second: []*model.LLMResponse{discarded(false)}, want: []*model.LLMResponse{discarded(false)}, requests: 2},
		"then nothing":          {first: []*model.LLMResponse{discarded(false)}, want: []*model.LLMResponse{discarded(false)}, requests: 2},
		"empty without reason":  {first: []*model.LLMResponse{usage, usage}, want: []*model.LLMResponse{usage, usage}, requests: 1},
		"then too long":         {first: []*model.LLMResponse{usage, discarded(true), emptyEnd}, errs: map[int]error{1: errTooLong}, requests: 2},
		"an error of the first": {first: []*model.LLMResponse{discarded(true)}, errs: map[int]error{0: errTooLong}, want: []*model.LLMResponse{discarded(true)}, requests: 1},
	} {
		history := []*genai.Content{user("hi"), said(call("", "weather", nil)), got(answer("", "weather", nil)), user("and now?")}
		req := asked([]fixed{takes("weather", weatherSchema), takes("mail", "")}, []fixed{takes("read", "")}, history...)
		s := &scripted{calls: [][]*model.LLMResponse{r.first, r.second}, errs: r.errs}
		out, err := answers(t, s, req)
		if (len(r.errs) > 0) != errors.Is(err, errTooLong) {
			t.Errorf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(r.want, out); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if len(s.requests) != r.requests {
			t.Errorf("%s: %d requests, want %d", name, len(s.requests), r.requests)
			continue
		}
		if r.requests < 2 {
			continue
		}
		if diff := cmp.Diff(history, s.requests[1].Contents); diff != "" {
			t.Errorf("%s: the second request is translated\n%s", name, diff)
		}
		if names := sentNames(s.requests[1]); names != "read tool_search tool_call weather mail" {
			t.Errorf("%s: the second request declares %q", name, names)
		}
		if names := sentNames(req); names != "read tool_search tool_call" {
			t.Errorf("%s: the caller's request declares %q", name, names)
		}
	}
}

func sentNames(req *model.LLMRequest) string {
	var names []string
	for _, t := range req.Config.Tools {
		for _, d := range t.FunctionDeclarations {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestADiscardedCallIsAskedForAgainWithPromotionToo(t *testing.T) {
	t.Parallel()
	weather := takes("weather", weatherSchema)
	req := asked([]fixed{weather}, []fixed{takes("read", "")}, user("hi"), said(call("", "weather", nil)), got(answer("", "weather", nil)))
	delete(req.Tools, CallToolName)
	req.Tools[SearchToolName] = newSearchTool([]entry{{tool: weather, decl: weather.decl, category: MCP}}, "", 5)
	functions := req.Config.Tools[0]
	functions.FunctionDeclarations = functions.FunctionDeclarations[:2] // without tool_call
	through := &model.LLMResponse{Content: said(call("", "tool_call", map[string]any{"name": "weather", "arguments": map[string]any{"city": "x"}}))}
	s := &scripted{calls: [][]*model.LLMResponse{{{FinishReason: genai.FinishReasonUnexpectedToolCall}}, {through}}}
	out, err := answers(t, s, req)
	if err != nil || len(s.requests) != 2 || s.requests[0] != req || sentNames(s.requests[1]) != "read tool_search weather" || len(out) != 1 || out[0] != through {
		t.Errorf("%v: %d requests, the last declares %q, %d responses", err, len(s.requests), sentNames(s.requests[len(s.requests)-1]), len(out))
	}
}

func TestNothingIsAllocatedWhereNothingIsDeferred(t *testing.T) {
	req := asked(nil, []fixed{takes("read", "")}, user("hi"))
	delete(req.Tools, CallToolName)
	if n := testing.AllocsPerRun(100, func() { bridgeOf(req) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestARetryReportsTheUsageOfTheFirstAttempt(t *testing.T) {
	t.Parallel()
	var seen []Observation
	d, err := New(Config{Observer: func(_ context.Context, o Observation) { seen = append(seen, o) }})
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{calls: [][]*model.LLMResponse{{{FinishReason: genai.FinishReasonUnexpectedToolCall, UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 7, ThoughtsTokenCount: 2}}}}}
	for range d.Translate(s).GenerateContent(t.Context(), asked([]fixed{takes("weather", "")}, nil, user("hi")), false) {
	}
	if err := d.Flush(t.Context()); err != nil || len(seen) != 1 || seen[0].Kind != Retried || seen[0].Usage.PromptTokens != 7 || seen[0].Usage.OutputTokens != 2 || seen[0].Deferred != 1 {
		t.Errorf("%v: %+v", err, seen)
	}
}
