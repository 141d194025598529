package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Compare returns nil if a view equals the one that the rules define for the history. Otherwise its
// error lists both views and the history. Stored events are compared by pointer.
func Compare(events, view []*session.Event) error {
	want := View(events)
	if slices.EqualFunc(view, want, isShown) {
		return nil
	}
	return fmt.Errorf("%sthe view is %s\nwant        %s", Tell(events), names(view), namesOf(want))
}

// isShown reports whether an event of a view is the wanted event itself, or the summary of the
// wanted record.
func isShown(got *session.Event, want Shown) bool {
	if want.StandIns != nil {
		return got != nil && isStandIn(got, want)
	}
	if want.Record == nil || got == nil {
		return got == want.Event
	}
	author := want.By
	if want.Standing {
		author = want.Record.Agent
	}
	prose, err := want.Record.Text()
	return err == nil && got.ID == want.Record.RecordID && laneOf(got) == want.Record.Branch &&
		got.Author == author && got.Content != nil && len(got.Content.Parts) == 1 &&
		strings.Contains(got.Content.Parts[0].Text, prose)
}

// isStandIn reports whether an event answers the calls, and ADK pairs it with them.
func isStandIn(got *session.Event, want Shown) bool {
	call := want.Event
	if got.ID != "interrupted-"+call.ID || got.InvocationID != call.InvocationID || got.Author != call.Author ||
		laneOf(got) != laneOf(call) || !got.Timestamp.Equal(call.Timestamp) || got.Content == nil ||
		got.Content.Role != "user" || len(got.Content.Parts) != len(want.StandIns) {
		return false
	}
	for k, s := range want.StandIns {
		response := got.Content.Parts[k].FunctionResponse
		says := map[string]any{"error": "interrupted: the result is not known"}
		if s.Waits {
			says = map[string]any{"status": "unknown: no result has arrived yet"}
		}
		if response == nil || response.ID != s.ID || !maps.Equal(response.Response, says) {
			return false
		}
	}
	return true
}

func names(events []*session.Event) string {
	var out []string
	for _, ev := range events {
		if ev == nil {
			out = append(out, "nil")
		} else {
			out = append(out, fmt.Sprintf("%q", ev.ID))
		}
	}
	return strings.Join(out, " ")
}

func namesOf(view []Shown) string {
	var events []*session.Event
	for _, s := range view {
		ev := s.Event
		if s.StandIns != nil {
			ev = &session.Event{ID: "interrupted-" + ev.ID}
		}
		if s.Record != nil {
			ev = &session.Event{ID: s.Record.RecordID}
		}
		events = append(events, ev)
	}
	return names(events)
}

// Tell describes a history, one event per line, with everything that its view depends on.
func Tell(events []*session.Event) string {
	var b strings.Builder
	h := &history{events: events}
	for i, ev := range events {
		fmt.Fprintf(&b, "%2d ", i)
		m, err := record.From(ev)
		switch {
		case ev == nil:
			b.WriteString("nil")
		case err != nil:
			b.WriteString("unreadable record")
		case m != nil:
			fmt.Fprintf(&b, "record %s in %q made %s: covers", m.RecordID, m.Branch, m.CreatedAt.Format(time.TimeOnly))
			for _, ref := range m.Covered {
				fmt.Fprintf(&b, " %s", nameOf(ref))
			}
			fmt.Fprintf(&b, ", absorbs %v", m.Absorbed)
			if !m.After.IsZero() {
				fmt.Fprintf(&b, ", by %s after %s in %s", m.Agent, nameOf(m.After), m.StartInvocationID)
			}
		default:
			fmt.Fprintf(&b, "%s in %q by %q, calls %q, answers %q", nameOf(record.RefTo(ev)), laneOf(ev), ev.Author, CallIDs(h.events[i]), ResponseIDs(h.events[i]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func nameOf(ref record.Ref) string {
	if ref.ID != "" {
		return ref.ID + "/" + ref.InvocationID
	}
	return fmt.Sprintf("<%s %s %s>", ref.InvocationID, ref.Author, ref.Timestamp.Format(time.StampNano))
}
