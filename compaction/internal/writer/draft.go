package writer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/ids"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Draft is a record that is not stored yet.
type Draft struct {
	Meta *record.Metadata
	Text string // the summary
	// Truncated means that the summarizer's text was too long for its place, and was cut.
	Truncated bool
	// Events are those that Meta.Covered names, in the same order, as the handle has them.
	Events []*session.Event
	// Tokens is what the record replaces in the view.
	Tokens int
	// Growth is how many tokens more the branch's summaries take up behind their prose, for the values that the
	// record brings; negative for less.
	Growth int
	// ValuesLost is why values of the events, or all of them, were not taken, nil if they were.
	ValuesLost error
	// Span is that of the attempt that wrote it.
	Span trace.SpanContext

	// eventID and invocationID are those of the record's event: the same for every try, so that a
	// service that checks IDs stores it once.
	eventID, invocationID string

	// givenUp are those of the events whose calls wait for an answer; see TakeGivenUp.
	givenUp atomic.Pointer[[]*session.Event]

	// Tries counts how often an inner service was offered the record and failed. TriedIn is the
	// invocation of the latest try; it is guarded by the session's append lock.
	Tries   atomic.Int32
	TriedIn string
	// Stored is the event that stores the record once it is in storage; guarded by the session's
	// append lock. A turn and a manual store may race to set it.
	Stored *session.Event
}

// TakeGivenUp returns those of the draft's events whose calls wait for an answer, to the first caller
// only. A job that leaves the draft to wait and the append that stores it may race to report them.
func (d *Draft) TakeGivenUp() []*session.Event {
	if events := d.givenUp.Swap(nil); events != nil {
		return *events
	}
	return nil
}

// Event returns the event that stores a record of the draft: without content, so that ADK ignores
// it.
func (d *Draft) Event(m *record.Metadata, timestamp time.Time) *session.Event {
	ev := &session.Event{ID: d.eventID, InvocationID: d.invocationID, Author: "user", Timestamp: timestamp}
	adk.SetLane(ev, m.Branch)
	record.Set(ev, m)
	return ev
}

// Preview returns the event that stores the draft as it is now, for views that show it already.
func (d *Draft) Preview() *session.Event { return d.Event(d.Meta, d.Meta.CreatedAt) }

// newDraft makes the record of an assignment's window from its summary.
func newDraft(ctx context.Context, a Assignment, text string, result summarizer.Result) (*Draft, error) {
	window, usage := &a.Window, Believable(result.Usage)
	m := &record.Metadata{
		RecordID: ids.New(ctx), CreatedAt: platform.Now(ctx),
		Kind: cmp.Or(a.Kind, record.KindSummary), Trigger: a.Trigger, Focus: a.Focus, Note: a.Note,
		Branch: record.Normalize(window.Branch), Agent: record.Normalize(window.Agent),
		Model: ModelName(result.Model), Usage: record.Usage{PromptTokens: usage.PromptTokens, OutputTokens: usage.OutputTokens},
	}
	if err := m.SetText(text); err != nil {
		return nil, err
	}
	for _, ev := range window.Events {
		cover(m, ev, promptsize.OfEvent(a.shown(ev)))
	}
	for _, a := range window.Absorb {
		absorb(m, a)
	}
	if window.Through != nil {
		m.Through = record.RefTo(window.Through)
	}
	if window.After != nil {
		m.After = record.RefTo(window.After)
	}
	m.CompactedTokens = promptsize.OfSummary(m)
	if m.CompactedTokens > 0 {
		m.CompressionRatio = float64(m.OriginalTokens) / float64(m.CompactedTokens)
	}
	d := &Draft{
		Meta: m, Events: window.Events, Tokens: window.Tokens, Text: text,
		eventID: ids.New(ctx), invocationID: "e-" + ids.New(ctx),
	}
	givenUp := window.GivenUp // of its own: a pointer into the assignment would keep all that the window was selected from
	d.givenUp.Store(&givenUp)
	return d, nil
}

// Believable returns a usage as it is recorded and charged: a count that no provider's report can hold becomes the
// nearest one that it can. A summarizer of the app's may report anything.
func Believable(u tokens.Usage) tokens.Usage {
	within := func(n int) int { return min(max(0, n), math.MaxInt32) }
	return tokens.Usage{
		PromptTokens: within(u.PromptTokens), CachedTokens: within(u.CachedTokens), OutputTokens: within(u.OutputTokens),
	}
}

// maxModelName is how many bytes of a model's name are kept.
const maxModelName = 200

// ModelName returns the name that a summarizer gives its model, fit to be stored and shown.
func ModelName(name string) string { return CleanText(name[:min(len(name), maxModelName)]) }

// check reports why nobody could read the draft's record, nil if it can be read. A stored record that cannot be read
// hides nothing, so its events would be summarized again, and paid for, without end.
func (d *Draft) check() error {
	data, err := json.Marshal(record.Encode(d.Meta))
	if err == nil {
		_, err = record.Decode(string(data))
	}
	if err != nil {
		return fmt.Errorf("the record of the summary could not be read back: %w", err)
	}
	return nil
}

// cover lets the record stand for an event that takes up so many tokens in a prompt.
func cover(m *record.Metadata, ev *session.Event, size int) {
	m.Covered = append(m.Covered, record.RefTo(ev))
	m.EventCount++
	m.OriginalTokens += size
	extend(m, ev.Timestamp, ev.InvocationID, ev.Timestamp, ev.InvocationID)
}

// absorb lets the record stand for all that another one stands for.
func absorb(m, other *record.Metadata) {
	m.Absorbed = append(m.Absorbed, other.RecordID)
	m.EventCount += other.EventCount
	m.OriginalTokens += other.OriginalTokens
	m.Level = max(m.Level, other.Level+1)
	extend(m, other.StartTimestamp, other.StartInvocationID, other.EndTimestamp, other.EndInvocationID)
	if other.Through.Timestamp.After(m.Through.Timestamp) || m.Through.IsZero() {
		m.Through = other.Through
	}
	reached := other.CheckpointThrough
	if other.Kind == record.KindCheckpoint {
		reached = other.Through
	}
	if !reached.IsZero() && (reached.Timestamp.After(m.CheckpointThrough.Timestamp) || m.CheckpointThrough.IsZero()) {
		m.CheckpointThrough = reached
	}
}

// extend widens the span of time that the record stands for.
func extend(m *record.Metadata, start time.Time, startInvocation string, end time.Time, endInvocation string) {
	first := m.EventCount == 0 || m.StartInvocationID == "" && m.StartTimestamp.IsZero()
	if first || start.Before(m.StartTimestamp) {
		m.StartTimestamp, m.StartInvocationID = start, startInvocation
	}
	if first || !end.Before(m.EndTimestamp) {
		m.EndTimestamp, m.EndInvocationID = end, endInvocation
	}
}

// Job is one occasion to compact a session.
type Job struct {
	Trigger record.Trigger
	// InvocationID is the invocation whose event was the occasion, "" for none.
	InvocationID string
	// Inline means that a turn waits, until Deadline at most.
	Inline   bool
	Deadline time.Time
	// Forced means that the prompt is over the hard limit, and must get smaller whatever it takes.
	Forced bool
	// ByHand means that a person waits for an answer.
	ByHand bool
	// Extractive means that no model is asked.
	Extractive bool
	// Kind is "" for a summary. Focus, Note and Pack are a person's: Pack is the wording of the
	// prompt, "" for the configured one.
	Kind        record.Kind
	Focus, Note string
	Pack        summarizer.Pack
	// Economy is the arithmetic of the prompt that was measured, 0 if the economical trigger is off.
	Economy meter.Economy
}

// Result is the result of writing or storing one summary, for the code that decides what comes
// next. Observers learn more, see package telemetry.
type Result int

const (
	Written   Result = iota // the summary is stored, or waits for the next append: build on it
	Declined                // there was nothing to gain, or its caller is gone
	Failed                  // it could not be written or stored
	Discarded               // it was written, and is of no use any more
)
