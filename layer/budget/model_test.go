package budget

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// onVertex is a model that knows its backend.
type onVertex struct{ *script }

func (onVertex) GetGoogleLLMVariant() genai.Backend { return genai.BackendVertexAI }

// wrapping is somebody else's wrapper.
type wrapping struct{ model.LLM }

func (w wrapping) Unwrap() model.LLM { return w.LLM }

// endless unwraps to itself.
type endless struct{ model.LLM }

func (e *endless) Unwrap() model.LLM { return e }

func variantOf(llm model.LLM) genai.Backend {
	if v, ok := llm.(interface{ GetGoogleLLMVariant() genai.Backend }); ok {
		return v.GetGoogleLLMVariant()
	}
	return genai.BackendUnspecified
}

func canLive(llm model.LLM) bool {
	_, ok := llm.(interface{ Client() *genai.Client })
	return ok
}

func TestAWrapperOffersWhatADKAsksTheModelFor(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{})
	real, err := gemini.NewModel(t.Context(), "gemini-2.5-flash", &genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI})
	if err != nil {
		t.Fatal(err)
	}
	plain := &script{t: t, name: "plain"}
	for _, llm := range []model.LLM{plain, onVertex{plain}, real} {
		w := m.Model(llm)
		if w.Name() != llm.Name() || variantOf(w) != variantOf(llm) || canLive(w) != canLive(llm) {
			t.Errorf("%T: name %q, variant %v, live %v", llm, w.Name(), variantOf(w), canLive(w))
		}
	}
	if live := m.Model(real).(interface{ Client() *genai.Client }); live.Client() != real.(interface{ Client() *genai.Client }).Client() {
		t.Error("the wrapper has another client")
	}
	if !canLive(m.Model(real)) || variantOf(m.Model(real)) != genai.BackendGeminiAPI {
		t.Error("ADK's own model has lost its methods")
	}
}

func TestAModelIsWrappedOnce(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{})
	plain := &script{t: t, name: "plain"}
	w := m.Model(plain)
	if again := m.Model(w); again != w {
		t.Error("a wrapper was wrapped")
	}
	if outer := (wrapping{w}); m.Model(outer) != model.LLM(outer) {
		t.Error("a wrapper around the wrapper was wrapped")
	}
	if around := m.Model(&endless{plain}); around.Name() != "plain" {
		t.Error("a wrapper that unwraps to itself")
	}
	if other := newMeter(t, Config{}).Model(w); other == w {
		t.Error("another meter does not wrap the model")
	}
}

// Two meters around one model would send a refused request four times.
func TestOfTwoMetersTheOuterOneWorks(t *testing.T) {
	t.Parallel()
	inside, outside := &journal{}, &journal{}
	inner := &script{t: t, name: "test-model", plan: answers{failing(tooLong("2100"))}}
	a, b := newMeter(t, Config{Observer: inside.Observe}, inside), newMeter(t, Config{Observer: outside.Observe}, outside)
	_, err := once(t, b.Model(wrapping{a.Model(inner)}), rounds(8, 200))
	if !errors.Is(err, ErrContextOverflow) || inner.calls() != 2 || len(inside.of(Sent)) > 0 || len(outside.of(Sent)) != 2 {
		t.Errorf("%v after %d calls; the inner meter saw\n%s", err, inner.calls(), inside)
	}
}

func TestANilModelIsNamedInTheError(t *testing.T) {
	t.Parallel()
	var nobody *script
	for _, llm := range []model.LLM{nil, nobody} {
		w := newMeter(t, Config{}).Model(llm)
		if adk.IsNil(w) {
			t.Fatalf("%T: the wrapper is nil", llm)
		}
		if _, err := once(t, w, rounds(1, 1)); err == nil || !strings.Contains(err.Error(), "nil model") || w.Name() == "" {
			t.Errorf("%T: %v", llm, err)
		}
	}
}

func TestANilRequestIsTheInnerModelsMatter(t *testing.T) {
	t.Parallel()
	inner := &script{t: t, name: "plain", plan: answers{says("done")}}
	defer func() { _ = recover() }() // as without the wrapper
	for range newMeter(t, Config{}).Model(inner).GenerateContent(t.Context(), nil, false) {
		t.Error("a response to no request")
	}
}

func TestSettingsOfTheWrapperAreChecked(t *testing.T) {
	t.Parallel()
	var nobody *counting
	_, err := New(Config{Compactor: nobody, CompactTimeout: -1, Store: (*memory)(nil)})
	var refused *compaction.ConfigError
	if !errors.As(err, &refused) {
		t.Fatalf("%v", err)
	}
	for _, field := range []string{"Compactor", "CompactTimeout", "Store"} {
		if !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s is missing from %v", field, err)
		}
	}
}
