package view

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Cut returns the form in which a view shows a stored event with tool responses: the event itself,
// or a copy whose responses are shorter. It must be pure and must not change the event. It must not
// use the view, which is locked during the call.
type Cut func(*session.Event) *session.Event

// display is a view as readers see it. A projection arranges stored events and recognizes them by
// pointer, so no event is cut before the arrangement is finished:
//
//	projection.view   e1   summary of r   e5 (a call)   e6 (200 KB of a file)
//	display.events    e1   summary of r   e5            e6', the first and the last lines of the file
//
// The form of an event is made when the view begins to show the event, and kept while it does. So a
// snapshot costs no call, and readers that compare events by pointer see no change.
type display struct {
	cut Cut // nil: events are shown as they are stored
	// stored is the view of the projection, as far as it has been passed to cut.
	stored []*session.Event
	// events are the forms of stored, in the same order; nil while every event is its own form.
	events []*session.Event
}

// update takes in the present view of a projection. grown means that stored is the beginning of it,
// and that no stand-in follows.
func (d *display) update(p *projection, grown bool) {
	if d.cut == nil {
		return
	}
	var known map[*session.Event]*session.Event
	var made map[*session.Event]bool
	if !grown {
		known, made = d.forms(), p.madeStandIns()
		d.stored, d.events = nil, nil
	}
	for i := len(d.stored); i < len(p.view); i++ {
		ev := p.view[i]
		form := ev
		if responds(ev) && !made[ev] {
			if form = known[ev]; form == nil {
				form = d.cut(ev)
			}
		}
		if form != ev && d.events == nil {
			d.events = slices.Clone(p.view[:i])
		}
		if d.events != nil {
			d.events = append(d.events, form)
		}
	}
	d.stored = p.view
}

// of returns the view of a projection in the form in which it is shown.
func (d *display) of(p *projection) []*session.Event {
	if d.events == nil {
		return p.view
	}
	return d.events
}

// forms returns the form of every shown event with responses.
func (d *display) forms() map[*session.Event]*session.Event {
	known := map[*session.Event]*session.Event{}
	for i, ev := range d.stored {
		switch {
		case !responds(ev):
		case d.events == nil:
			known[ev] = ev
		default:
			known[ev] = d.events[i]
		}
	}
	return known
}

// changed returns the form of every shown event that is not its own form.
func (d *display) changed() map[*session.Event]*session.Event {
	var out map[*session.Event]*session.Event
	for i, form := range d.events {
		if ev := d.stored[i]; ev != form {
			put(&out, ev, form)
		}
	}
	return out
}

// fork returns a copy that grows independently, for a copy of the projection.
func (d *display) fork(p *projection) display {
	if d.cut == nil {
		return display{}
	}
	return display{cut: d.cut, stored: p.view, events: slices.Clip(d.events)}
}

// responds reports whether an event holds a tool response. Only such an event has another form.
func responds(ev *session.Event) bool {
	return ev != nil && ev.Content != nil && slices.ContainsFunc(ev.Content.Parts, isResponse)
}

// Through shows each stored event with tool responses in the form that cut returns. It returns v.
// Call it before v is used. Forks and continuations of v show the same forms. If cut is nil, events
// are shown as they are stored.
func (v *View) Through(cut Cut) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.settle()
	v.shown, v.snapshot = display{cut: cut}, nil
	v.shown.update(v.p, false)
	return v
}

func isResponse(part *genai.Part) bool { return part != nil && part.FunctionResponse != nil }
