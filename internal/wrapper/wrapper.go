// Package wrapper puts a layer around a model without hiding what ADK asks of the model.
package wrapper

import (
	"context"
	"fmt"
	"iter"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Call answers a model call. It has the signature of the method GenerateContent.
type Call func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error]

// New returns llm with call in place of its GenerateContent. The name, the service that is called and the
// ability to do live runs are those of llm; its Unwrap method returns llm. The owner is the layer, a pointer
// that [Wraps] recognizes. If llm is nil, each call of the result returns an error that begins with the
// name of the package, as in "budget: Model was given a nil model".
func New(llm model.LLM, owner any, pkg string, call Call) model.LLM {
	if adk.IsNil(llm) {
		return nilModel{pkg: pkg, what: fmt.Sprintf("%T", llm)}
	}
	w := &wrapped{LLM: llm, owner: owner, call: call}
	if live, ok := llm.(liveModel); ok {
		return &wrappedLive{wrapped: w, live: live}
	}
	return w
}

// liveModel is a model for live runs. ADK looks for this method only: see
// TestPinALiveRunAsksTheModelForItsClient.
type liveModel interface {
	Client() *genai.Client
}

// variantModel is a model that knows which of Google's services it calls. ADK takes every other model
// for one of none, so a wrapper may always have this method: see
// TestPinTheVariantOfAModelDecidesHowASchemaIsSent.
type variantModel interface {
	GetGoogleLLMVariant() genai.Backend
}

// wrapped is a model with a layer around its calls.
type wrapped struct {
	model.LLM
	owner any
	call  Call
}

// wrappedLive is wrapped for a model that can do live runs. Those do not call GenerateContent, so no layer
// has a part in them.
type wrappedLive struct {
	*wrapped
	live liveModel
}

// Client returns the inner model's client.
func (w *wrappedLive) Client() *genai.Client { return w.live.Client() }

// Unwrap returns the inner model.
func (w *wrapped) Unwrap() model.LLM { return w.LLM }

// GetGoogleLLMVariant returns the inner model's variant, and genai.BackendUnspecified if it has none.
func (w *wrapped) GetGoogleLLMVariant() genai.Backend {
	if inner, ok := w.LLM.(variantModel); ok {
		return inner.GetGoogleLLMVariant()
	}
	return genai.BackendUnspecified
}

// GenerateContent has the layer answer.
func (w *wrapped) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return w.call(ctx, req, stream)
}

// maxLayers bounds how far a chain of wrappers is followed: one that unwraps to itself must not hang.
const maxLayers = 64

// Wraps reports whether llm has a layer of that owner around it, at any depth.
func Wraps(llm model.LLM, owner any) bool {
	for range maxLayers {
		switch w := llm.(type) {
		case *wrapped:
			if w.owner == owner {
				return true
			}
		case *wrappedLive:
			if w.owner == owner {
				return true
			}
		}
		wrapper, ok := llm.(interface{ Unwrap() model.LLM })
		if !ok {
			return false
		}
		llm = wrapper.Unwrap()
	}
	return false
}

// WithValue is context.WithValue for the context of a model call: if ADK has made it for an agent's
// invocation, the result is that invocation, too.
func WithValue(ctx context.Context, key, value any) context.Context {
	with := context.WithValue(ctx, key, value)
	if ic := adk.Invocation(ctx); ic != nil {
		return ic.WithContext(with)
	}
	return with
}

// WithTimeout is context.WithTimeout for the context of a model call, as [WithValue] is.
func WithTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	with, cancel := context.WithTimeout(ctx, timeout)
	if ic := adk.Invocation(ctx); ic != nil {
		return ic.WithContext(with), cancel
	}
	return with, cancel
}

// nilModel takes the place of a model that is nil.
type nilModel struct{ pkg, what string }

// Name returns a name that no model has.
func (nilModel) Name() string { return "none" }

// GenerateContent yields an error that names the mistake.
func (m nilModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(nil, fmt.Errorf("%s: Model was given a nil model (%s): create the model first, and check its error", m.pkg, m.what))
	}
}
