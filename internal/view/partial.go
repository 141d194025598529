package view

import "google.golang.org/adk/session"

// NewPartial returns the view of a partial history: a backend may leave out events that the view
// hides, and records that are not current. No two of the events may have the same ID. References
// resolve by ID only, because by its alternative key a reference to an absent event could name
// another one.
func NewPartial(events []*session.Event, unloaded Unloaded) *View {
	return Options{}.NewPartial(events, unloaded)
}

// NewPartial is the function of that name, with options.
func (o Options) NewPartial(events []*session.Event, unloaded Unloaded) *View {
	return &View{p: project(events, nil, unloaded.gapsIn(events), o)}
}

// Unloaded answers a partial view's questions about events that were left out. Its functions
// receive loaded events. A nil function reports false for every event.
type Unloaded struct {
	// Covered reports whether some record covers an event, beyond what the loaded records cover.
	Covered func(*session.Event) bool
	// Overtaken reports whether a message of the user that was left out shows that the invocation of
	// an event with calls is over. It is behind the event, belongs to another invocation, and is
	// visible in the event's branch; nobody has to know where it is among the loaded events.
	Overtaken func(*session.Event) bool
}

// gaps is what a projection keeps of [Unloaded].
type gaps struct {
	covered   []bool // by position
	overtaken func(*session.Event) bool
}

func (u Unloaded) gapsIn(events []*session.Event) *gaps {
	g := &gaps{overtaken: u.Overtaken}
	for _, ev := range events {
		g.covered = append(g.covered, u.Covered != nil && ev != nil && u.Covered(ev))
	}
	return g
}

// Partial reports whether the view was made by [NewPartial].
func (v *View) Partial() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.p.gaps != nil
}

// Replace gives a partial view another history, see [NewPartial]. The function gets the stored events
// that the view has now, and must not change them.
func (v *View) Replace(by func(raw []*session.Event) ([]*session.Event, Unloaded)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.settle()
	events, unloaded := by(v.p.raw)
	v.p = project(events, v.p, unloaded.gapsIn(events), v.p.options)
	v.shown.update(v.p, false)
	v.snapshot = nil
	v.generation++
}
