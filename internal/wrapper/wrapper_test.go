package wrapper_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/wrapper"
)

type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(func(*model.LLMResponse, error) bool) {}
}

type live struct{ plain }

var client = &genai.Client{}

func (live) Client() *genai.Client              { return client }
func (live) GetGoogleLLMVariant() genai.Backend { return genai.BackendVertexAI }

// circle unwraps to itself.
type circle struct{ plain }

func (c circle) Unwrap() model.LLM { return c }

func TestAWrapperShowsWhatADKAsksOfAModel(t *testing.T) {
	t.Parallel()
	owner, called := new(int), false
	call := func(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
		called = true
		return func(func(*model.LLMResponse, error) bool) {}
	}
	bare := wrapper.New(plain{}, owner, "layer", call)
	if _, ok := bare.(interface{ Client() *genai.Client }); ok {
		t.Error("a model that cannot do live runs seems to do them")
	}
	if got := bare.(interface{ GetGoogleLLMVariant() genai.Backend }).GetGoogleLLMVariant(); got != genai.BackendUnspecified {
		t.Errorf("the variant is %v, want none", got)
	}
	w := wrapper.New(live{}, owner, "layer", call)
	if w.(interface{ Client() *genai.Client }).Client() != client {
		t.Error("the client is not the model's")
	}
	if got := w.(interface{ GetGoogleLLMVariant() genai.Backend }).GetGoogleLLMVariant(); got != genai.BackendVertexAI {
		t.Errorf("the variant is %v, want that of the model", got)
	}
	if w.Name() != "plain" || w.(interface{ Unwrap() model.LLM }).Unwrap() != (live{}) {
		t.Errorf("name %q, unwraps to %v", w.Name(), w)
	}
	for range w.GenerateContent(t.Context(), nil, false) {
	}
	if !called {
		t.Error("the layer was not called")
	}
}

func TestALayerFindsItself(t *testing.T) {
	t.Parallel()
	mine, other := new(int), new(int)
	w := wrapper.New(wrapper.New(live{}, mine, "layer", nil), other, "layer", nil)
	if !wrapper.Wraps(w, mine) || !wrapper.Wraps(w, other) || wrapper.Wraps(w, new(int)) || wrapper.Wraps(plain{}, mine) || wrapper.Wraps(circle{}, mine) {
		t.Error("an owner is not found, or one is found that is not there")
	}
}

func TestANilModelNamesTheMistake(t *testing.T) {
	t.Parallel()
	for _, llm := range []model.LLM{nil, (*struct{ model.LLM })(nil)} {
		for _, err := range wrapper.New(llm, nil, "budget", nil).GenerateContent(t.Context(), nil, false) {
			if err == nil || !strings.HasPrefix(err.Error(), "budget: Model was given a nil model") {
				t.Errorf("%T: %v", llm, err)
			}
		}
	}
}

type key struct{}

func TestAValueLeavesAPlainContextPlain(t *testing.T) {
	t.Parallel()
	ctx := wrapper.WithValue(t.Context(), key{}, 7)
	if _, ok := ctx.(agent.InvocationContext); ok || ctx.Value(key{}) != 7 {
		t.Errorf("%T has %v", ctx, ctx.Value(key{}))
	}
}
