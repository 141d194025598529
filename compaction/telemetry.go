// # Telemetry
//
// Every compaction that a trigger sets off is one OpenTelemetry span named "compact_events <trigger>",
// and is counted. No trigger, no span. The span is in the trace of whoever set the compaction off, also
// where it runs in the background after the turn, and ends when it is known what became of the summary.
// ADK's runner appends with the context that it was given: so the span stands below the one that the app
// started around the run, beside invoke_agent; without one it begins a trace. A summary that is stored
// later than it was written has a second span for that, linked to the first.
//
// Attributes of spans. Those marked * have name and type in common with adk-python, or with the
// compaction of adk-go v2. What is not known is left out.
//
//	gen_ai.operation.name                   *  "compact_events"
//	gen_ai.conversation.id                  *  ID of the session
//	gen_ai.system                           *  "gcp.gemini" or "gcp.vertex_ai": who writes the summary
//	gcp.vertex.agent.invocation_id          *  whose event set it off
//	gen_ai.compaction.trigger               *  invocations, tokens, manual, checkpoint or merge
//	gen_ai.compaction.summarizer_type       *  name of its type, without package and pointer
//	gen_ai.compaction.event_count           *  int: events and summaries that it replaces
//	gen_ai.compaction.compaction_interval   *  int: Config.InvocationThreshold, if it is on
//	gen_ai.compaction.overlap_size          *  int: Config.OverlapSize, likewise
//	gen_ai.compaction.token_threshold       *  int: prompt tokens that set off the token trigger, if it is on
//	gen_ai.compaction.event_retention_size  *  int: Config.RetainEvents, likewise
//	gen_ai.compaction.branch                   of the events, if not the root
//	gen_ai.compaction.inline                   bool: a turn waited for it
//	gen_ai.compaction.tokens_before            int: what it replaces, estimated
//	gen_ai.compaction.tokens_after             int: the summary, estimated
//	gen_ai.compaction.result_event_id       *  if stored: the event that holds the record
//	gen_ai.compaction.record_id                if stored: the record
//	gen_ai.compaction.start_timestamp       *  if stored: float64, Unix seconds of the first event it stands for
//	gen_ai.compaction.end_timestamp         *  if stored: likewise of the last
//	gen_ai.compaction.late_store               bool, only true: the summary is that of the linked span
//	gen_ai.compaction.declined              *  why there was nothing to gain
//	gen_ai.compaction.discarded                why the summary was not stored
//	error.type                                 if failed, beside the status and an exception event: panic, timeout,
//	                                           canceled, hanging, too_long, unusable_summary, not_stored or _OTHER
//	gen_ai.request.model                       that writes the summary
//	gen_ai.usage.input_tokens               *  int: of the summarizer's own calls, whatever became of the summary
//	gen_ai.usage.output_tokens              *  int: likewise; candidates and thoughts
//	gen_ai.usage.cache_read.input_tokens    *  int: part of the input tokens
//	gen_ai.compaction.cost_usd                 float64: of these calls, where package tokens has the price
//
// Metrics and their attributes. These take few values each: trigger and error.type as above (trigger
// none for a panic before it is known), outcome as in [Outcome], gen_ai.token.type is input or output. An exporter for Prometheus makes
// compaction_triggers_total, compaction_duration_seconds, compaction_compression_ratio and the like of
// the names.
//
//	compaction.triggers           counter         trigger, outcome            what triggers led to
//	compaction.duration           histogram, s    trigger, outcome            summarizing and storing
//	compaction.compression_ratio  gauge           trigger                     newest record: tokens it stands for / its own
//	compaction.errors             counter         trigger, error.type         failures
//	compaction.summarizer.tokens  counter         trigger, gen_ai.token.type  of the summarizer's own calls
//	compaction.summarizer.cost    counter, {USD}  trigger                     of these, where package tokens has the price
package compaction

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
)

// scope names this package among the sources of telemetry.
const scope = "github.com/adk-go-ext/longsession/compaction"

const spanName = "compact_events"

// Dashboards depend on these; the package comment says what they are.
const (
	keyOperation      = "gen_ai.operation.name"
	keyConversation   = "gen_ai.conversation.id"
	keySystem         = "gen_ai.system"
	keyInvocation     = "gcp.vertex.agent.invocation_id"
	keyTrigger        = "gen_ai.compaction.trigger"
	keySummarizerType = "gen_ai.compaction.summarizer_type"
	keyEventCount     = "gen_ai.compaction.event_count"
	keyInterval       = "gen_ai.compaction.compaction_interval"
	keyOverlap        = "gen_ai.compaction.overlap_size"
	keyThreshold      = "gen_ai.compaction.token_threshold"
	keyRetention      = "gen_ai.compaction.event_retention_size"
	keyBranch         = "gen_ai.compaction.branch"
	keyInline         = "gen_ai.compaction.inline"
	keyTokensBefore   = "gen_ai.compaction.tokens_before"
	keyTokensAfter    = "gen_ai.compaction.tokens_after"
	keyResultEvent    = "gen_ai.compaction.result_event_id"
	keyRecord         = "gen_ai.compaction.record_id"
	keyStart          = "gen_ai.compaction.start_timestamp"
	keyEnd            = "gen_ai.compaction.end_timestamp"
	keyLateStore      = "gen_ai.compaction.late_store"
	keyDeclined       = "gen_ai.compaction.declined"
	keyDiscarded      = "gen_ai.compaction.discarded"
	keyErrorType      = "error.type"
	keyModel          = "gen_ai.request.model"
	keyInputTokens    = "gen_ai.usage.input_tokens"
	keyOutputTokens   = "gen_ai.usage.output_tokens"
	keyCachedTokens   = "gen_ai.usage.cache_read.input_tokens"
	keyCost           = "gen_ai.compaction.cost_usd"
)

// tracer and instruments are looked up for every attempt, so that a provider that the app sets after
// the service was made is honoured. Attempts are rare beside what one costs; nothing is looked up
// where none is made.
func (p *policy) tracer() trace.Tracer {
	if p.TracerProvider != nil {
		return p.TracerProvider.Tracer(scope)
	}
	return otel.Tracer(scope)
}

func (p *policy) instruments() metric.Meter {
	if p.MeterProvider != nil {
		return p.MeterProvider.Meter(scope)
	}
	return otel.Meter(scope)
}

// startSpan starts the span of an attempt. The attributes that are known by now are there from the
// beginning, for samplers. A nil writer means that nothing is written.
func (a *attempt) startSpan(ctx context.Context, p *policy, writer Summarizer, options ...trace.SpanStartOption) context.Context {
	name := spanName
	if a.Trigger != "" {
		name += " " + string(a.Trigger)
	}
	options = append(options, trace.WithAttributes(a.opening(p, writer)...))
	ctx, a.span = p.tracer().Start(ctx, name, options...)
	return ctx
}

func (a *attempt) opening(p *policy, writer Summarizer) []attribute.KeyValue {
	attrs := attributes{
		attribute.String(keyOperation, spanName),
		attribute.String(keyConversation, a.Session.SessionID),
		attribute.Int(keyEventCount, a.Events),
		attribute.Bool(keyInline, a.Inline),
	}
	attrs.text(keyTrigger, string(a.Trigger))
	attrs.text(keyInvocation, a.InvocationID)
	attrs.text(keyBranch, a.Branch)
	attrs.number(keyTokensBefore, a.TokensBefore)
	if writer != nil {
		attrs.text(keySummarizerType, typeName(writer))
		attrs.text(keySystem, p.system(writer))
	}
	if p.InvocationThreshold > 0 {
		attrs = append(attrs, attribute.Int(keyInterval, p.InvocationThreshold), attribute.Int(keyOverlap, p.OverlapSize))
	}
	if a.threshold > 0 {
		attrs = append(attrs, attribute.Int(keyThreshold, a.threshold), attribute.Int(keyRetention, p.RetainEvents))
	}
	return attrs
}

// attributes are those that have a value.
type attributes []attribute.KeyValue

func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, attribute.String(key, value))
	}
}

func (a *attributes) number(key string, value int) {
	if value > 0 {
		*a = append(*a, attribute.Int(key, value))
	}
}

// moment adds a time, unless it is absent: the zero time would read as the year 1754.
func (a *attributes) moment(key string, t time.Time) {
	if !t.IsZero() {
		*a = append(*a, attribute.Float64(key, float64(t.UnixMicro())/1e6))
	}
}

// typeName is the bare name of a value's type.
func typeName(value any) string {
	t := reflect.TypeOf(value)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[") // without type arguments
	if name == "" {
		return t.Kind().String()
	}
	return name
}

// system names the provider that writes the summary, "" where it is not known.
func (p *policy) system(writer Summarizer) string {
	var asked any = writer
	if _, own := writer.(*summarizer.LLM); own && p.Summarizer == nil {
		asked = p.Model
	}
	google, ok := asked.(interface{ GetGoogleLLMVariant() genai.Backend })
	if !ok {
		return ""
	}
	switch google.GetGoogleLLMVariant() {
	case genai.BackendGeminiAPI:
		return "gcp.gemini"
	case genai.BackendVertexAI:
		return "gcp.vertex_ai"
	default:
		return ""
	}
}

const typePanic = "panic"

// errPanicked marks what was recovered from.
var errPanicked = errors.New("panicked")

// errorType sorts a failure into few kinds, for error.type.
func errorType(err error) string {
	for _, kind := range []struct {
		of   error
		name string
	}{
		{errPanicked, typePanic},
		{summarizer.ErrPanic, typePanic},
		{errNotStored, "not_stored"},
		{errHanging, "hanging"},
		{summarizer.ErrTooLong, "too_long"},
		{summarizer.ErrUnusable, "unusable_summary"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
	} {
		if errors.Is(err, kind.of) {
			return kind.name
		}
	}
	return "_OTHER"
}
