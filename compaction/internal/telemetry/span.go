package telemetry

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/summarizer"
)

const spanName = "compact_events"

// Dashboards depend on these names; the comment of package compaction documents them.
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
	keyKept           = "gen_ai.compaction.kept"
	keyInvented       = "gen_ai.compaction.invented"
)

// start starts the span of an attempt with every attribute that is known by now, because samplers
// see no later ones.
func (a *Attempt) start(ctx context.Context, attrs attributes, options ...trace.SpanStartOption) context.Context {
	name, cfg := spanName, &a.reporter.cfg
	if a.Trigger != "" {
		name += " " + string(a.Trigger)
	}
	attrs = append(attrs,
		attribute.String(keyOperation, spanName),
		attribute.String(keyConversation, a.Session.SessionID),
		attribute.Int(keyEventCount, a.Events),
		attribute.Bool(keyInline, a.Inline),
	)
	attrs.text(keyTrigger, string(a.Trigger))
	attrs.text(keyInvocation, a.InvocationID)
	attrs.text(keyBranch, a.Branch)
	attrs.number(keyTokensBefore, a.TokensBefore)
	if cfg.Interval > 0 {
		attrs = append(attrs, attribute.Int(keyInterval, cfg.Interval), attribute.Int(keyOverlap, cfg.Overlap))
	}
	if threshold := a.state.Prompts.Limits().Threshold; threshold > 0 {
		attrs = append(attrs, attribute.Int(keyThreshold, threshold), attribute.Int(keyRetention, cfg.Retention))
	}
	ctx, a.span = a.reporter.tracer().Start(ctx, name, append(options, trace.WithAttributes(attrs...))...)
	return ctx
}

// writerAttributes name the summarizer that a job asks. The extractive one has no provider.
func (r *Reporter) writerAttributes(of writer.Job) (attrs attributes) {
	if of.Extractive {
		attrs.text(keySummarizerType, typeName(summarizer.Extractive{}))
		return attrs
	}
	attrs.text(keySummarizerType, typeName(r.cfg.Summarizer))
	attrs.text(keySystem, system(r.cfg.Provider))
	return attrs
}

// endSpan adds the outcome. Only a stored record has an event: a span that named one for a summary
// that is not in storage would read as a success.
func (a *Attempt) endSpan() {
	defer a.span.End()
	var attrs attributes
	attrs.text(keyModel, a.Model)
	attrs.number(keyInputTokens, a.Usage.PromptTokens)
	attrs.number(keyOutputTokens, a.Usage.OutputTokens)
	attrs.number(keyCachedTokens, a.Usage.CachedTokens)
	attrs.number(keyTokensAfter, a.TokensAfter)
	if a.Cost > 0 {
		attrs = append(attrs, attribute.Float64(keyCost, a.Cost))
	}
	switch a.Outcome {
	case Stored:
		attrs.text(keyRecord, a.RecordID)
		attrs.text(keyResultEvent, a.eventID)
		attrs.moment(keyStart, a.Draft.Meta.StartTimestamp)
		attrs.moment(keyEnd, a.Draft.Meta.EndTimestamp)
		attrs.number(keyInvented, a.Invented)
		if a.Kept != nil {
			attrs = append(attrs, attribute.Float64(keyKept, *a.Kept))
		}
	case Declined:
		attrs.text(keyDeclined, a.Reason)
	case Discarded:
		attrs.text(keyDiscarded, a.Reason)
	case Failed:
		attrs.text(keyErrorType, errorType(a.Err))
		text := a.errorText()
		a.span.AddEvent("exception", trace.WithAttributes(
			attribute.String("exception.type", fmt.Sprintf("%T", a.Err)), attribute.String("exception.message", text)))
		a.span.SetStatus(codes.Error, text)
	}
	a.span.SetAttributes(attrs...)
}

// maxErrorText is how many characters of an error reach a span.
const maxErrorText = 200

// errorText is the beginning of the error's first line, so without the stack of a panic; "" where
// the configuration omits it.
func (a *Attempt) errorText() string {
	if a.reporter.cfg.OmitErrorText {
		return ""
	}
	line, _, _ := strings.Cut(a.Err.Error(), "\n")
	if runes := []rune(line); len(runes) > maxErrorText {
		return string(runes[:maxErrorText-1]) + "…"
	}
	return line
}

// attributes are a span's attributes. Its methods add a value, unless that is absent.
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

// moment adds a time in Unix seconds. The zero time is absent: it would read as the year 1754.
func (a *attributes) moment(key string, t time.Time) {
	if !t.IsZero() {
		*a = append(*a, attribute.Float64(key, float64(t.UnixMicro())/1e6))
	}
}

// typeName is the bare name of a value's type: "LLM" for a *summarizer.LLM.
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

// system is the name of a provider that says which of Google's it is, else "".
func system(provider any) string {
	google, ok := provider.(interface{ GetGoogleLLMVariant() genai.Backend })
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
