package compaction

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Summarizer writes the prose that stands in for a window of events. It gets copies of its own and
// returns text and usage, nothing else; the service does the rest. It must be safe for concurrent
// use by different sessions. It may fail, panic or hang: a call is given up after Config.Timeout. A
// text that [summarizer.Check] refuses is a failure too. One that implements
// [summarizer.InputLimiter] is given windows of that size at most.
type Summarizer interface {
	Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error)
}

// Off turns off the trigger, or the reserve, of the field it is written to. The zero value of a
// number never does: zero means the default.
const Off = -1

// Config says when to compact, how much stays raw, and who writes the summaries. The zero value of
// every number is its default, so Config{Model: llm} equals [DefaultConfig] with a model. A trigger
// is turned off with [Off] only; to turn off both, write it to both.
type Config struct {
	// Model writes the summaries: normally the agent's own model. Required unless Summarizer is set.
	Model model.LLM
	// Summarizer replaces the model-written summaries. Nil: Model writes them.
	Summarizer Summarizer

	// InvocationThreshold is θ: after how many complete invocations (user turns) a window is
	// summarized. 0: 5. Off turns this trigger off.
	InvocationThreshold int
	// OverlapSize is ω: how many of the newest complete invocations always stay raw. They head the
	// next window. 0: 2; at least 1.
	OverlapSize int
	// TokenThreshold is the prompt size, in tokens, at which the token trigger fires, if that is less
	// than SafetyRatio × ContextWindow. 0: SafetyRatio alone decides. Off turns the token trigger off,
	// whatever SafetyRatio is.
	TokenThreshold int
	// SafetyRatio is ρ: the share of the context window at which the token trigger fires, up to 1.
	// 0: 0.7. Off leaves the decision to TokenThreshold, and turns the token trigger off without one.
	SafetyRatio float64
	// ContextWindow is Λ, the context window of the *agent's* model, in tokens. 0: looked up by
	// AgentModel, else by Model's name, else 128,000 (package tokens has the table).
	ContextWindow int
	// AgentModel names the agent's model where Model is another, cheaper one. Only used to look up
	// the context window; without it, ContextWindow is also that of a Model that no table knows.
	AgentModel string
	// AgentModelFunc names the model that a session's agent has now, for apps that switch it while they
	// run. It is asked after every append, so it must be quick; "" keeps the model of before. Where
	// ContextWindow is 0, the limits follow. Not together with AgentModel.
	AgentModelFunc func(ctx context.Context, ref SessionRef) string
	// Registry has windows, limits and prices of models that package tokens does not know, or has
	// others of. Nil: the built-in table.
	Registry *tokens.Registry
	// MaxOutputTokens is reserved for the model's reply, in tokens. The effective window is
	// ContextWindow less this. 0: the longest reply of the agent's model that package tokens knows, or
	// 8,192 where it knows none, but at most a tenth of the window. The same where AgentModelFunc names a
	// model of whose window it would be more than half. Off reserves nothing.
	MaxOutputTokens int
	// RetainEvents is how many of the newest events of a branch the token trigger leaves raw, at
	// least; at the hard limit fewer. 0: 10.
	RetainEvents int
	// MaxSummaries is how many summaries a branch may show. One more makes two be merged first; 1 is
	// a rolling summary that is rewritten every time. Where that leaves no room for the tool rounds of
	// a turn that is still running, these have one summary more for each agent, until the first window
	// after the turn. 0: 5.
	MaxSummaries int
	// MaxSummaryTokens is how long a summary is asked to be at most, in tokens: less for a small
	// window, and less where MaxSummaries of that length would take up more than half of the prompt
	// that the token trigger allows. The LLM summarizer asks again, once, for one over twice that.
	// 0: 500.
	MaxSummaryTokens int
	// PromptTemplate is the prompt for summaries; it must contain {{history}}. Empty: the default.
	// It has no effect with Summarizer, so setting both is refused.
	PromptTemplate string
	// Timeout bounds one summarizer call, and all the compaction that one AppendEvent may wait for.
	// 0: 60 s.
	Timeout time.Duration
	// Synchronous compacts before AppendEvent returns, so that the very next prompt is smaller, at
	// the price of the wait. False: in the background, except at the hard limit.
	Synchronous bool
	// Pin reports whether an event must stay raw for ever. It must not change the event. Nil pins nothing.
	Pin func(*session.Event) bool
	// Observer is told of everything that happens. Nil: nobody is.
	Observer Observer
	// Logger is told when a state changes: once when compactions of a session begin to fail (and at
	// level Info when they work again), when a summary is dropped because storage refuses it, when a
	// model's context window is assumed, when a record cannot be read, and when a provider's counts
	// cannot be right. Never of every turn, and never with content. Nil: slog.Default() at that time.
	Logger *slog.Logger
	// TracerProvider traces compactions: one span for each, in the trace of whoever set it off. Nil:
	// OpenTelemetry's global provider at that time.
	TracerProvider trace.TracerProvider
	// OmitErrorText leaves the text of errors out of spans: a provider's error may quote the prompt. By
	// default spans have its first 200 characters.
	OmitErrorText bool
	// MeterProvider counts and measures compactions. Nil: OpenTelemetry's global provider at that time.
	MeterProvider metric.MeterProvider
}

// Defaults of [DefaultConfig] and of zero fields.
const (
	defaultInvocationThreshold = 5   // ADR-009, as in adk-python's EventsCompactionConfig examples
	defaultOverlapSize         = 2   // ADR-009: at least 2 keeps references to the last exchange resolvable
	defaultSafetyRatio         = 0.7 // ADR-006 and ADR-009
	defaultRetainEvents        = 10  // ADR-006: the last 10 messages in full
	defaultMaxSummaries        = 5   // ADR-009
	defaultMaxSummaryTokens    = 500 // ADR-009
	defaultTimeout             = 60 * time.Second
)

// DefaultConfig returns the defaults, written out. Model or Summarizer must still be set. Fields that
// are zero in it have defaults that depend on the agent's model, or none.
func DefaultConfig() Config {
	return Config{
		InvocationThreshold: defaultInvocationThreshold,
		OverlapSize:         defaultOverlapSize,
		SafetyRatio:         defaultSafetyRatio,
		RetainEvents:        defaultRetainEvents,
		MaxSummaries:        defaultMaxSummaries,
		MaxSummaryTokens:    defaultMaxSummaryTokens,
		Timeout:             defaultTimeout,
	}
}
