package compaction

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/ids"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// draft is a record that is not stored yet.
type draft struct {
	meta *record.Metadata
	// events are what meta.Covered names, in the same order, as the handle has them.
	events []*session.Event
	// givenUp are those of the events whose calls wait for an answer, until that has been reported.
	givenUp []*session.Event
	// tokens is what the record replaces in the view.
	tokens int
	text   string
	// span is that of the attempt that wrote it.
	span trace.SpanContext
	// eventID and invocationID are those of the record's event: the same for every try, so that a
	// service that checks IDs stores it once.
	eventID, invocationID string
	// tries counts how often an inner service was offered the record and failed, and triedIn is the
	// invocation of the latest; guarded by the session's append lock.
	tries   atomic.Int32
	triedIn string
	// stored is the event that stores the record once it is in storage; guarded by the session's append
	// lock. A turn and somebody who stores by hand may both be at it.
	stored *session.Event
}

// event returns the event that stores a record of the draft: without content, so that ADK ignores it.
func (d *draft) event(m *record.Metadata, timestamp time.Time) *session.Event {
	ev := &session.Event{
		ID:           d.eventID,
		InvocationID: d.invocationID,
		Author:       "user",
		Branch:       m.Branch,
		Timestamp:    timestamp,
	}
	record.Set(ev, m)
	return ev
}

// newDraft makes the record of a window from its summary.
func newDraft(ctx context.Context, t task, sel selector.Selection, text string, result summarizer.Result) (*draft, error) {
	m := &record.Metadata{
		RecordID:  ids.New(ctx),
		Kind:      record.KindSummary,
		CreatedAt: now(ctx),
		Branch:    record.Normalize(sel.Branch),
		Agent:     record.Normalize(sel.Agent),
		Trigger:   t.trigger,
		Focus:     t.focus,
		Note:      t.note,
		Model:     result.Model,
		Usage:     record.Usage{PromptTokens: result.Usage.PromptTokens, OutputTokens: result.Usage.OutputTokens},
	}
	if t.kind != "" {
		m.Kind = t.kind
	}
	if err := m.SetText(text); err != nil {
		return nil, err
	}
	for _, ev := range sel.Events {
		m.Covered = append(m.Covered, record.RefTo(ev))
		m.EventCount++
		m.OriginalTokens += promptsize.OfEvent(ev)
		extend(m, ev.Timestamp, ev.InvocationID, ev.Timestamp, ev.InvocationID)
	}
	for _, a := range sel.Absorb {
		m.Absorbed = append(m.Absorbed, a.RecordID)
		m.EventCount += a.EventCount
		m.OriginalTokens += a.OriginalTokens
		m.Level = max(m.Level, a.Level+1)
		extend(m, a.StartTimestamp, a.StartInvocationID, a.EndTimestamp, a.EndInvocationID)
		if a.Through.Timestamp.After(m.Through.Timestamp) || m.Through.IsZero() {
			m.Through = a.Through
		}
	}
	if sel.Through != nil {
		m.Through = record.RefTo(sel.Through)
	}
	if sel.After != nil {
		m.After = record.RefTo(sel.After)
	}
	m.CompactedTokens = promptsize.OfSummary(m)
	if m.CompactedTokens > 0 {
		m.CompressionRatio = float64(m.OriginalTokens) / float64(m.CompactedTokens)
	}
	return &draft{
		meta: m, events: sel.Events, givenUp: sel.GivenUp, tokens: sel.Tokens, text: text,
		eventID: ids.New(ctx), invocationID: "e-" + ids.New(ctx),
	}, nil
}

// extend widens the span of time that m speaks of.
func extend(m *record.Metadata, start time.Time, startInvocation string, end time.Time, endInvocation string) {
	first := m.EventCount == 0 || m.StartInvocationID == "" && m.StartTimestamp.IsZero()
	if first || start.Before(m.StartTimestamp) {
		m.StartTimestamp, m.StartInvocationID = start, startInvocation
	}
	if first || !end.Before(m.EndTimestamp) {
		m.EndTimestamp, m.EndInvocationID = end, endInvocation
	}
}
