// Package promptsize is the only place that measures events and summaries in a prompt. All sizes
// are estimates in tokens (package tokens) on one scale: the size of a view is the sum of OfEvent
// over its events, and OfSummary of a record is OfEvent of the event that the view shows for it,
// including the frame.
package promptsize

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// EventOverhead is what each event costs in a prompt beyond its parts: the role and the separators.
const EventOverhead = 4

// OfEvent is the size of an event, EventOverhead for nil.
func OfEvent(ev *session.Event) int { return tokens.OfEvent(ev) + EventOverhead }

// OfSummary is the size of the summary that a view shows for a record. The view shows no event for
// a record without text; its size is that of an empty event.
func OfSummary(m *record.Metadata) int { return OfEvent(view.SummaryEvent(m)) }

// OfAddition is what the current records of a branch take up in a view beyond the sum of OfSummary: exact values and
// the sentence about a recall tool, see [view.Options.Addition].
func OfAddition(shows view.Options, records []*record.Metadata) int {
	if text := shows.Addition(records); text != "" {
		return tokens.Estimate(text)
	}
	return 0
}

// OfProse is OfSummary of a record of that kind with that text. midTurn means that it stands for
// tool rounds of a running turn, whose summaries have a different frame.
func OfProse(kind record.Kind, midTurn bool, prose string) int {
	m := &record.Metadata{Kind: kind}
	if midTurn {
		m.After.ID = "event"
	}
	if err := m.SetText(prose); err != nil {
		return EventOverhead + tokens.Estimate(prose)
	}
	return OfSummary(m)
}

// Frame is the size of a summary beyond its prose: the sentences around it, and EventOverhead.
func Frame(kind record.Kind, midTurn bool) int {
	const prose = "prose"
	return OfProse(kind, midTurn, prose) - tokens.Estimate(prose)
}
