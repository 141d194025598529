package summarizer_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

var longText = "Language: English\n" + strings.Repeat("Order A-17 was shipped. ", 40)

func TestChunksAreOneAnswerAndPartialsAreSkipped(t *testing.T) {
	t.Parallel()
	partial := says("The or")
	partial.Partial, partial.FinishReason = true, ""
	first := &model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{
		{Text: "let me see", Thought: true}, {Text: "The or", ThoughtSignature: []byte("sig")}}}}
	last := says("der is A-17.")
	last.UsageMetadata = used(107, 13)
	m := answering(only(partial, first, nil, last))
	res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(context.Background(), window())
	if err != nil {
		t.Fatal(err)
	}
	want := &genai.Content{Role: "model", Parts: []*genai.Part{{Text: "The or", ThoughtSignature: []byte("sig")}, {Text: "der is A-17."}}}
	if !reflect.DeepEqual(res.Content, want) {
		t.Errorf("got %+v", res.Content)
	}
	if res.Usage != (tokens.Usage{PromptTokens: 107, OutputTokens: 13}) {
		t.Errorf("usage %+v; reports within a call are running totals", res.Usage)
	}
}

func TestRequestCarriesNoToolsAndEndsWithTheUser(t *testing.T) {
	t.Parallel()
	m := answering(only(says("A fine summary.")))
	res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(context.Background(), window())
	if err != nil || res.Model != "scripted-model" {
		t.Fatalf("%+v, %v", res, err)
	}
	req := m.requests[0]
	if len(req.Contents) != 1 || req.Contents[0].Role != "user" || req.Config == nil || len(req.Tools) != 0 || m.streamed {
		t.Errorf("request %+v, streamed %v", req, m.streamed)
	}
}

func TestConfigCarriesOnlyWhatSuitsASummary(t *testing.T) {
	t.Parallel()
	timeout := time.Second
	cfg := &genai.GenerateContentConfig{
		Temperature: genai.Ptr[float32](0.1), TopP: genai.Ptr[float32](0.2), TopK: genai.Ptr[float32](3), Seed: genai.Ptr[int32](4),
		SafetySettings: []*genai.SafetySetting{{Category: "C", Threshold: "T"}, nil},
		HTTPOptions:    &genai.HTTPOptions{APIVersion: "v9", Timeout: &timeout, Headers: map[string][]string{"X": {"1"}}, ExtraBody: map[string]any{"a": []any{1}}},
		Labels:         map[string]string{"team": "a"},
	}
	allowed := *cfg
	// Set every other field by reflection, so that fields added to genai later are covered too.
	v := reflect.ValueOf(cfg).Elem()
	others := 0
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			others++
			fill(v.Field(i))
		}
	}
	if others < 20 {
		t.Fatalf("only %d other fields were set", others)
	}
	m := answering(only(says("A fine summary.")))
	l := newLLM(t, summarizer.LLMConfig{Model: m, GenerateConfig: cfg})
	cfg.Temperature = nil // later changes by the caller must have no effect
	if _, err := l.Summarize(context.Background(), window()); err != nil {
		t.Fatal(err)
	}
	if got := m.requests[0].Config; !reflect.DeepEqual(got, &allowed) {
		t.Errorf("\n got %+v\nwant %+v", got, &allowed)
	}
}

// fill sets v to a non-zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.Int32:
		v.SetInt(1)
	}
}

func TestOverlongAnswerIsAskedForOnceMore(t *testing.T) {
	t.Parallel()
	unfinished := says("short")
	unfinished.FinishReason = genai.FinishReasonMaxTokens
	for _, tc := range []struct {
		name   string
		second *model.LLMResponse
		want   string
	}{
		{"shorter is taken", says("Order A-17 was shipped."), "Order A-17 was shipped."},
		{"longer is not", says(longText + longText), longText},
		{"unusable is not", unfinished, longText},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := answering(only(says(longText)), only(tc.second), only(says("third")))
			req := window()
			req.MaxTokens = 20
			res, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := summarizer.Prose(res.Content); text != tc.want {
				t.Errorf("got %q", text)
			}
			if m.calls() != 2 || res.Calls != 2 || res.Usage.PromptTokens != 200 {
				t.Errorf("%d calls, %d counted, usage %+v", m.calls(), res.Calls, res.Usage)
			}
			if p := m.prompt(1); !strings.Contains(p, "under 20 tokens") || !strings.Contains(p, "> Language: English\n> Order A-17") {
				t.Errorf("second prompt: %s", p)
			}
		})
	}
}

func TestAnswerUpToTwiceTheLengthIsNotRetried(t *testing.T) {
	t.Parallel()
	m := answering(only(says(longText)))
	req := window()
	req.MaxTokens = (tokens.Estimate(longText) + 1) / 2
	if _, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(context.Background(), req); err != nil || m.calls() != 1 {
		t.Errorf("%v after %d calls", err, m.calls())
	}
}

func TestNothingToSummarizeCostsNoCall(t *testing.T) {
	t.Parallel()
	m := answering(only(says("A fine summary.")))
	l := newLLM(t, summarizer.LLMConfig{Model: m, MaxInputTokens: 300})
	for _, req := range []summarizer.Request{{}, {Events: events(nil, nil)}, {Summaries: []string{"", " \n"}}} {
		if _, err := l.Summarize(context.Background(), req); !errors.Is(err, summarizer.ErrEmpty) {
			t.Errorf("%+v: %v", req, err)
		}
	}
	var many []*genai.Part
	for range 30 {
		many = append(many, &genai.Part{Text: strings.Repeat("word ", 100)})
	}
	if _, err := l.Summarize(context.Background(), summarizer.Request{Events: events(event("user", "user", many...))}); !errors.Is(err, summarizer.ErrTooLong) {
		t.Errorf("a window that does not fit: %v", err)
	}
	if m.calls() != 0 {
		t.Errorf("%d calls", m.calls())
	}
}

func TestConfigThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	m := answering(only(says("A fine summary.")))
	for _, tc := range []struct {
		cfg  summarizer.LLMConfig
		want []string
	}{
		{summarizer.LLMConfig{}, []string{"Model is nil"}},
		{summarizer.LLMConfig{Model: (*scripted)(nil)}, []string{"Model is nil"}},
		{summarizer.LLMConfig{Model: m, Template: "Summarize!"}, []string{"Template", "Summarize!", "{{history}}", "0 times"}},
		{summarizer.LLMConfig{Model: m, Template: "{{history}} {{history}}"}, []string{"Template", "2 times"}},
		{summarizer.LLMConfig{Model: m, Pack: "poem"}, []string{"Pack", "poem"}},
		{summarizer.LLMConfig{Model: m, MaxInputTokens: -5}, []string{"MaxInputTokens", "-5"}},
		{summarizer.LLMConfig{Model: m, MaxPieces: -5}, []string{"MaxPieces", "-5"}},
		{summarizer.LLMConfig{Model: m, ContextWindow: -5}, []string{"ContextWindow", "-5"}},
	} {
		_, err := summarizer.NewLLM(tc.cfg)
		if err == nil {
			t.Errorf("%+v was accepted", tc.cfg)
			continue
		}
		for _, w := range tc.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q is missing in: %v", w, err)
			}
		}
	}
}

func TestInputLimitFollowsTheModelsWindow(t *testing.T) {
	t.Parallel()
	m := answering(nil)
	m.name = "gemini-2.5-flash"
	windowSize := tokens.ContextWindow(m.name)
	got := newLLM(t, summarizer.LLMConfig{Model: m}).MaxInputTokens()
	if got < windowSize/2 || got > windowSize*3/4 {
		t.Errorf("%d of a window of %d", got, windowSize)
	}
	if got := newLLM(t, summarizer.LLMConfig{Model: m, MaxInputTokens: 123}).MaxInputTokens(); got != 123 {
		t.Errorf("own limit: %d", got)
	}
	for window, want := range map[int]int{8_000: 4_500, 32_000: 18_000, 128_000: 89_856, 3: 1} {
		if got := newLLM(t, summarizer.LLMConfig{Model: m, ContextWindow: window}).MaxInputTokens(); got != want {
			t.Errorf("%d of a window of %d, want %d", got, window, want)
		}
	}
	m.name = "home-made"
	own, err := tokens.NewRegistry(tokens.Model{Name: "home-made", ContextWindow: 32_000})
	if err != nil {
		t.Fatal(err)
	}
	if got := newLLM(t, summarizer.LLMConfig{Model: m, Registry: own}).MaxInputTokens(); got != 18_000 {
		t.Errorf("%d of a window that the registry gives as 32000, want 18000", got)
	}
}

func TestFuncIsASummarizer(t *testing.T) {
	t.Parallel()
	f := summarizer.Func(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Model: string(req.Kind)}, nil
	})
	if res, err := f.Summarize(context.Background(), summarizer.Request{Kind: record.KindCheckpoint}); err != nil || res.Model != "checkpoint" {
		t.Errorf("%+v, %v", res, err)
	}
}
