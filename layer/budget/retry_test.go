package budget

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// tooLong is Gemini's refusal.
func tooLong(prompt string) error {
	return apiError(http.StatusBadRequest, "The input token count ("+prompt+") exceeds the maximum number of tokens allowed (2000).")
}

// rounds is a request with a question and n tool rounds of about size tokens each.
func rounds(n, size int) *model.LLMRequest {
	req := &model.LLMRequest{Model: "test-model", Config: &genai.GenerateContentConfig{}}
	req.Contents = append(req.Contents, genai.NewContentFromText("Look everything up.", genai.RoleUser))
	for i := range n {
		call := &genai.Part{FunctionCall: &genai.FunctionCall{Name: "lookup", Args: map[string]any{"n": i}}, ThoughtSignature: []byte{byte(i)}}
		result := &genai.Part{FunctionResponse: &genai.FunctionResponse{Name: "lookup", Response: map[string]any{"output": strings.Repeat("word ", size)}}}
		req.Contents = append(req.Contents,
			&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{call}}, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{result}})
	}
	return req
}

// once calls a model once, and returns what it yields.
func once(t *testing.T, llm model.LLM, req *model.LLMRequest) (texts []string, err error) {
	t.Helper()
	for resp, failure := range llm.GenerateContent(t.Context(), req, false) {
		if failure != nil {
			err = failure
			continue
		}
		if resp.Content != nil {
			texts = append(texts, resp.Content.Parts[0].Text)
		}
	}
	return texts, err
}

func newMasker(t *testing.T) *toolresult.Masker {
	t.Helper()
	return must(toolresult.NewMasker(toolresult.Masking{}))
}

func TestARefusedRequestIsMadeSmallerAndSentOnceMore(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name  string
		cfg   Config
		tried []Kind
	}{
		{"masked", Config{Masker: newMasker(t)}, []Kind{Masked}},
		{"dropped", Config{}, []Kind{Dropped}},
	} {
		log := &journal{}
		r.cfg.Observer = log.Observe
		inner := &script{t: t, name: "test-model", plan: answers{failing(tooLong("2100")), says("done")}}
		texts, err := once(t, newMeter(t, r.cfg, log).Model(inner), rounds(8, 200))
		if err != nil || !slices.Equal(texts, []string{"done"}) || inner.calls() != 2 {
			t.Fatalf("%s: %q, %v after %d calls\n%s", r.name, texts, err, inner.calls(), log)
		}
		if len(inner.request(1)) > len(inner.request(0))*19/20 {
			t.Errorf("%s: the second request has %d bytes, the first %d", r.name, len(inner.request(1)), len(inner.request(0)))
		}
		for _, kind := range append(r.tried, Refused) {
			if len(log.of(kind)) != 1 {
				t.Errorf("%s: %d times %s\n%s", r.name, len(log.of(kind)), kind, log)
			}
		}
	}
}

func TestAModelThatAlwaysRefusesIsCalledTwice(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"with numbers":    tooLong("2100"),
		"without numbers": apiError(http.StatusBadRequest, "prompt is too long"),
		"wrong numbers":   tooLong("99999999"),
	} {
		inner := &script{t: t, name: "test-model", plan: answers{failing(err)}}
		_, got := once(t, newMeter(t, Config{Masker: newMasker(t)}).Model(inner), rounds(8, 200))
		var overflow *OverflowError
		var api genai.APIError
		if !errors.As(got, &overflow) || !errors.Is(got, ErrContextOverflow) || !errors.As(got, &api) || api.Code != 400 {
			t.Fatalf("%s: %v", name, got)
		}
		if inner.calls() != 2 || !overflow.Sent || !slices.Contains(overflow.Tried, "masked") || len(overflow.Largest) == 0 {
			t.Errorf("%s: %d calls, %+v", name, inner.calls(), overflow)
		}
	}
}

func TestARequestThatCannotBecomeSmallerIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]*model.LLMRequest{
		"only texts": {Contents: []*genai.Content{genai.NewContentFromText(strings.Repeat("word ", 3000), genai.RoleUser)}},
		"nothing":    {},
	} {
		inner := &script{t: t, name: "test-model", plan: answers{failing(tooLong("2100"))}}
		_, err := once(t, newMeter(t, Config{Masker: newMasker(t)}).Model(inner), req)
		if !errors.Is(err, ErrContextOverflow) || inner.calls() != 1 {
			t.Errorf("%s: %d calls, %v", name, inner.calls(), err)
		}
	}
}

func TestOtherErrorsPassUnchanged(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{
		apiError(429, "Quota exceeded: input token count"), apiError(503, "overloaded"), context.Canceled, errors.New("connection refused"),
	} {
		inner := &script{t: t, name: "test-model", plan: answers{failing(failure)}}
		_, err := once(t, newMeter(t, Config{}).Model(inner), rounds(8, 200))
		if err != failure || inner.calls() != 1 {
			t.Errorf("%v: %v after %d calls", failure, err, inner.calls())
		}
	}
}

func TestTheAppCanNameOverflowsOfItsOwn(t *testing.T) {
	t.Parallel()
	custom := errors.New("das Gespräch ist zu lang")
	for name, is := range map[string]func(error) bool{
		"knows it": func(err error) bool { return err == custom },
		"panics":   func(error) bool { panic("no idea") },
	} {
		inner := &script{t: t, name: "test-model", plan: answers{failing(custom), says("done")}}
		texts, err := once(t, newMeter(t, Config{Overflow: is}).Model(inner), rounds(8, 200))
		if name == "knows it" && (err != nil || len(texts) != 1) {
			t.Errorf("%s: %q, %v", name, texts, err)
		}
		if name == "panics" && err != custom {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Some adapters report errors of the service as responses.
func TestARefusalInAResponseIsRecognized(t *testing.T) {
	t.Parallel()
	refusal := responses(&model.LLMResponse{ErrorCode: "400", ErrorMessage: "This model's maximum context length is 2000 tokens. However, your messages resulted in 2100 tokens."})
	inner := &script{t: t, name: "test-model", plan: answers{refusal, says("done")}}
	if texts, err := once(t, newMeter(t, Config{}).Model(inner), rounds(8, 200)); err != nil || len(texts) != 1 || inner.calls() != 2 {
		t.Errorf("%q, %v after %d calls", texts, err, inner.calls())
	}
	always := &script{t: t, name: "test-model", plan: answers{refusal}}
	var last *model.LLMResponse
	for resp, err := range newMeter(t, Config{}).Model(always).GenerateContent(t.Context(), rounds(8, 200), false) {
		if err != nil {
			t.Fatal(err)
		}
		last = resp
	}
	if last == nil || last.ErrorCode != "400" || always.calls() != 2 {
		t.Errorf("after %d calls: %+v", always.calls(), last)
	}
	unexpected := &script{t: t, name: "test-model", plan: answers{responses(&model.LLMResponse{ErrorCode: "UNEXPECTED_TOOL_CALL", FinishReason: "UNEXPECTED_TOOL_CALL"})}}
	if texts, err := once(t, newMeter(t, Config{}).Model(unexpected), rounds(8, 200)); err != nil || len(texts) != 0 || unexpected.calls() != 1 {
		t.Errorf("an undeclared tool: %q, %v after %d calls", texts, err, unexpected.calls())
	}
}

func TestNothingIsSentAgainAfterTheFirstResponse(t *testing.T) {
	t.Parallel()
	partial := &model.LLMResponse{Content: genai.NewContentFromText("I have", genai.RoleModel), Partial: true}
	inner := &script{t: t, name: "test-model", plan: answers{func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			if yield(partial, nil) {
				yield(nil, tooLong("2100"))
			}
		}
	}}}
	texts, err := once(t, newMeter(t, Config{}).Model(inner), rounds(8, 200))
	if len(texts) != 1 || err == nil || inner.calls() != 1 {
		t.Errorf("%q, %v after %d calls", texts, err, inner.calls())
	}
}

func TestOnlyTheReplyIsLoweredIfThePromptFits(t *testing.T) {
	t.Parallel()
	inner := &script{t: t, name: "test-model", plan: answers{
		failing(errors.New("input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length or `max_tokens` and try again")),
		says("done"),
	}}
	req := rounds(8, 200)
	shared := &genai.GenerateContentConfig{MaxOutputTokens: 64_000}
	req.Config = shared
	contents := len(req.Contents)
	if texts, err := once(t, newMeter(t, Config{ContextWindow: 200_000}).Model(inner), req); err != nil || len(texts) != 1 {
		t.Fatalf("%q, %v", texts, err)
	}
	if req.Config.MaxOutputTokens != 50_000 || len(req.Contents) != contents || shared.MaxOutputTokens != 64_000 {
		t.Errorf("the reply has %d tokens, the agent's own config %d, and %d of %d contents are left", req.Config.MaxOutputTokens, shared.MaxOutputTokens, len(req.Contents), contents)
	}
}

func TestALimitIsLearnedFromARefusal(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{Masker: newMasker(t)})
	inner := &script{t: t, name: "test-model", plan: answers{failing(tooLong("2100")), says("done")}}
	llm := m.Model(inner)
	if _, err := once(t, llm, rounds(8, 200)); err != nil {
		t.Fatal(err)
	}
	if got := m.windows.Of("test-model"); got.Total != 2000 || got.Assumed {
		t.Errorf("the window is %+v", got)
	}
	if _, err := once(t, llm, rounds(12, 200)); err != nil || inner.calls() != 3 {
		t.Errorf("the next request: %v after %d calls, want it made smaller before it is sent", err, inner.calls())
	}
	larger := newMeter(t, Config{ContextWindow: 1500})
	if _, err := once(t, larger.Model(&script{t: t, name: "test-model", plan: answers{failing(tooLong("2100")), says("done")}}), rounds(4, 200)); err != nil {
		t.Fatal(err)
	}
	if got := larger.windows.Of("test-model"); got.Total != 1500 {
		t.Errorf("a configured window of 1500 became %d", got.Total)
	}
}

// The runner of a console stops when the user presses a key.
func TestAConsumerMayStopEarly(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]answers{
		"while the model answers": {responses(&model.LLMResponse{Partial: true}, &model.LLMResponse{Partial: true}, &model.LLMResponse{})},
		"at the error":            {failing(tooLong("2100"))},
		"at another error":        {failing(errors.New("no connection"))},
	} {
		yields := 0
		newMeter(t, Config{}).Model(&script{t: t, name: "test-model", plan: plan}).GenerateContent(t.Context(), rounds(8, 200), true)(func(*model.LLMResponse, error) bool {
			yields++
			return false
		})
		if yields != 1 {
			t.Errorf("%s: %d yields", name, yields)
		}
	}
}

func TestTheNumbersOfAnOverflowFitTogether(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]answers{
		"not sent":         {says("done")},
		"refused":          {failing(tooLong("2100"))},
		"counted far less": {counts(300), counts(500), says("done")},
	} {
		inner := &script{t: t, name: "test-model", plan: plan}
		m := newMeter(t, Config{ContextWindow: 2_000})
		c := newChat(t, newSessions(t), newAgent(t, llmagent.Config{Name: "agent", Model: m.Model(inner)}), m.Plugin())
		if name == "counted far less" {
			for range 2 {
				if _, err := c.ask(strings.Repeat("word ", 300)); err != nil {
					t.Fatal(err)
				}
			}
		}
		size := 4_000
		if name == "refused" {
			size = 1_500
		}
		_, err := c.ask(strings.Repeat("word ", size))
		var overflow *OverflowError
		if !errors.As(err, &overflow) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if overflow.Tokens <= overflow.Window || overflow.Largest[0].Tokens > overflow.Tokens || !strings.Contains(err.Error(), "the user can send less at once") {
			t.Errorf("%s: numbers do not fit together: %v", name, err)
		}
	}
}

// Many small declarations may be what fills the window. A user who is told to send less cannot help that.
func TestAnOverflowOfManyToolsNamesTheTools(t *testing.T) {
	t.Parallel()
	declared := func(n, words int) (all []*genai.FunctionDeclaration) {
		for i := range n {
			all = append(all, &genai.FunctionDeclaration{Name: "tool" + strconv.Itoa(i), Description: strings.Repeat("word ", words)})
		}
		return all
	}
	for name, row := range map[string]struct {
		declarations []*genai.FunctionDeclaration
		want         string
		least        int
	}{
		"many small ones":       {declared(40, 100), "the tool declarations: about", 4_000},
		"one large one":         {append(declared(40, 1), declared(1, 4_000)...), `the tool declaration of "tool0": about`, 3_900},
		"less than a message":   {declared(2, 10), "the user message (content 0): about", 290},
		"one that is all there": {declared(1, 4_000), `the tool declaration of "tool0": about`, 3_900},
	} {
		m := newMeter(t, Config{ContextWindow: 2_000})
		req := &model.LLMRequest{
			Contents: []*genai.Content{genai.NewContentFromText(strings.Repeat("word ", 300), genai.RoleUser)},
			Config:   &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: row.declarations[:len(row.declarations)/2]}, nil, {FunctionDeclarations: row.declarations[len(row.declarations)/2:]}}},
		}
		c := &call{origin: origin{m: m, who: caller{ref: ref, agent: "assistant", model: "test-model"}}, req: req}
		c.size = m.measure(c.who, req)
		err := c.overflowError(nil, largestParts(req))
		sum := 0
		for _, part := range err.Largest {
			sum += part.Tokens
		}
		if !strings.Contains(err.Error(), "largest is "+row.want) || err.Largest[0].Tokens < row.least || sum > err.Tokens || err.Largest[0].Remedy() == "" {
			t.Errorf("%s: %d tokens in all parts: %v", name, sum, err)
		}
	}
}

// counts answers with a count of the prompt.
func counts(tokens int32) func(*model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
	return responses(&model.LLMResponse{
		Content: genai.NewContentFromText("Noted.", genai.RoleModel), FinishReason: genai.FinishReasonStop,
		UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: tokens},
	})
}
