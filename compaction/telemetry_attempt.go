package compaction

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// attempt is one compaction, from its start until it is known what became of it: its observations,
// its span and its metrics. It is concluded exactly once.
type attempt struct {
	Observation
	span trace.Span
	// asks says that a summarizer is called for it.
	asks bool
	// draft is the summary, nil while there is none.
	draft *draft
	// eventID is that of the event that stores the record, "" before.
	eventID string
	// errorType is the kind of Err.
	errorType string
	// threshold is the prompt size that sets off the token trigger, 0 where that is off.
	threshold int
	registry  *tokens.Registry
	omitText  bool
	concluded bool
}

func (s *CompactionSessionService) newAttempt(st *sessionState, o Observation) *attempt {
	return &attempt{
		Observation: o, threshold: s.limits(st).threshold, registry: s.policy.Registry, omitText: s.policy.OmitErrorText,
	}
}

// begin announces that a summarizer is about to be called. The context is the one to work with: what
// the call does itself is traced below the attempt.
func (s *CompactionSessionService) begin(ctx context.Context, st *sessionState, t task, sel selector.Selection) (context.Context, *attempt) {
	a := s.newAttempt(st, observation(st, t, sel))
	a.asks = true
	ctx = a.startSpan(ctx, s.policy, s.writer(t))
	a.Outcome = Started
	s.observe(ctx, a.Observation)
	return ctx, a
}

// resume announces that a summary of an earlier attempt is about to be stored. What its calls took was
// told then.
func (s *CompactionSessionService) resume(ctx context.Context, st *sessionState, t task, d *draft) (context.Context, *attempt) {
	t.trigger = d.meta.Trigger
	a := s.newAttempt(st, observation(st, t, selector.Selection{Branch: d.meta.Branch, Events: d.events, Tokens: d.tokens}))
	a.Events += len(d.meta.Absorbed)
	ctx = a.startSpan(ctx, s.policy, nil, trace.WithLinks(trace.Link{SpanContext: d.span}),
		trace.WithAttributes(attribute.Bool(keyLateStore, true)))
	a.summarized(d)
	return ctx, a
}

// decline tells that a trigger was due and nothing could be done about it.
func (s *CompactionSessionService) decline(ctx context.Context, st *sessionState, t task, sel selector.Selection, reason string) {
	a := s.newAttempt(st, observation(st, t, sel))
	ctx = a.startSpan(ctx, s.policy, s.writer(t))
	a.Outcome, a.Reason = Declined, reason
	s.tell(ctx, a)
}

// writer is who is asked for a summary.
func (s *CompactionSessionService) writer(t task) Summarizer {
	if t.extractive {
		return summarizer.Extractive{}
	}
	return s.policy.summarizer
}

func observation(st *sessionState, t task, sel selector.Selection) Observation {
	return Observation{
		Session: st.ref, Trigger: t.trigger, Branch: sel.Branch, InvocationID: t.invocationID, Inline: t.inline,
		Events: len(sel.Events) + len(sel.Absorb), TokensBefore: sel.Tokens,
	}
}

// spent adds what the summarizer's calls took, which is paid for even where they led to nothing.
func (a *attempt) spent(result summarizer.Result) {
	a.Usage, a.Model = result.Usage, result.Model
	if model, ok := a.registry.Lookup(result.Model); ok && model.Priced() {
		a.Cost = model.Cost(result.Usage)
	}
}

// summarized adds what is known of the summary.
func (a *attempt) summarized(d *draft) {
	a.draft = d
	a.RecordID, a.TokensAfter, a.Model = d.meta.RecordID, d.meta.CompactedTokens, d.meta.Model
	if a.asks {
		d.span = a.span.SpanContext()
	}
}

// guard does a part of an attempt. If that panics, the attempt has failed, and the caller goes on.
func (s *CompactionSessionService) guard(ctx context.Context, st *sessionState, a *attempt, part func() Outcome) (outcome Outcome) {
	defer func() {
		if cause := recover(); cause != nil {
			outcome = s.failed(ctx, st, a, fmt.Errorf("%w: %v\n%s", errPanicked, cause, debug.Stack()))
		}
	}()
	return part()
}

// settledElsewhere ends an attempt whose draft another attempt has reported on already.
func (a *attempt) settledElsewhere(result settlement) Outcome {
	a.concluded = true
	if result.event == nil {
		return Discarded
	}
	return Stored
}

// failed notes a failed attempt and reports it.
func (s *CompactionSessionService) failed(ctx context.Context, st *sessionState, a *attempt, cause error) Outcome {
	a.Outcome, a.Err = Failed, failure(cause)
	a.errorType = cmp.Or(a.errorType, errorType(cause))
	st.mu.Lock()
	st.memory.failed(time.Now())
	st.mu.Unlock()
	s.logFailure(ctx, st, a, cause)
	if a.Inline {
		st.noteInline(a.InvocationID)
	}
	return s.conclude(ctx, st, a)
}

// fail is failed for what went wrong before or beside any attempt: a panic.
func (s *CompactionSessionService) fail(ctx context.Context, st *sessionState, o Observation, cause error) Outcome {
	a := s.newAttempt(st, o)
	a.errorType = typePanic
	ctx = a.startSpan(ctx, s.policy, nil)
	return s.failed(ctx, st, a, cause)
}

// conclude remembers and tells what became of an attempt.
func (s *CompactionSessionService) conclude(ctx context.Context, st *sessionState, a *attempt) Outcome {
	st.mu.Lock()
	st.memory.last = a.Observation
	st.mu.Unlock()
	if a.Outcome.written() {
		s.logRecovery(ctx, st)
	}
	s.tell(ctx, a)
	return a.Outcome
}

// tell ends the attempt's span, counts it, and tells the observer, all once.
func (s *CompactionSessionService) tell(ctx context.Context, a *attempt) {
	if a.concluded {
		return
	}
	a.concluded = true
	a.endSpan()
	s.policy.count(ctx, a)
	s.observe(ctx, a.Observation)
	s.reportGivenUp(ctx, a)
}

// endSpan describes what became of the attempt. A summary that is not in storage has no event, and a
// span that named one would read as a success.
func (a *attempt) endSpan() {
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
		attrs.moment(keyStart, a.draft.meta.StartTimestamp)
		attrs.moment(keyEnd, a.draft.meta.EndTimestamp)
	case Declined:
		attrs.text(keyDeclined, a.Reason)
	case Discarded:
		attrs.text(keyDiscarded, a.Reason)
	case Failed:
		attrs.text(keyErrorType, a.errorType)
		text := a.errorText()
		a.span.AddEvent("exception", trace.WithAttributes(
			attribute.String("exception.type", fmt.Sprintf("%T", a.Err)), attribute.String("exception.message", text)))
		a.span.SetStatus(codes.Error, text)
	}
	a.span.SetAttributes(attrs...)
}

// maxErrorText is how many characters of an error reach a span.
const maxErrorText = 200

// errorText is the beginning of the error's first line, without the stack of a panic; "" if it is to be
// left out.
func (a *attempt) errorText() string {
	if a.omitText {
		return ""
	}
	line, _, _ := strings.Cut(a.Err.Error(), "\n")
	if runes := []rune(line); len(runes) > maxErrorText {
		return string(runes[:maxErrorText-1]) + "…"
	}
	return line
}
