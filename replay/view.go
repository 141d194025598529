package replay

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/record"
)

// maxProblems is how many violations a report describes. It counts them all.
const maxProblems = 20

// checkIfDue checks the view if a record was stored since the last check: nothing else changes what
// is hidden.
func (r *run) checkIfDue(ctx context.Context) error {
	r.mu.Lock()
	due := r.unchecked
	r.unchecked = false
	r.mu.Unlock()
	if !due {
		return nil
	}
	raw, err := r.svc.Raw(ctx, r.get())
	if err != nil {
		return err
	}
	view, err := r.svc.Get(ctx, r.get())
	if err != nil {
		return err
	}
	r.checkView(eventsOf(raw.Session), eventsOf(view.Session))
	return nil
}

// checkView reports every invariant that a view of events violates. Package oracle identifies an
// event by its pointer, and a service that reads a file returns new pointers each time, so the view
// gets those of events first.
func (r *run) checkView(events, view []*session.Event) {
	byID := map[string]*session.Event{}
	for _, ev := range events {
		if !record.Is(ev) {
			byID[ev.ID] = ev
		}
	}
	for i, ev := range view {
		if stored, ok := byID[ev.ID]; ok {
			view[i] = stored
		}
	}
	r.addProblems(oracle.Check(events, view))
}

func (r *run) addProblems(err error) {
	if err == nil {
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, one := range all {
		r.report.Hidden++
		if len(r.report.Problems) < maxProblems {
			r.report.Problems = append(r.report.Problems, one.Error())
		}
	}
}

// viewAtTheEnd reads the view with a new service, as another process does that opens the session
// later. Results that a layer shortens are whole in it: the model can read them back.
func (r *run) viewAtTheEnd(ctx context.Context) ([]*session.Event, error) {
	svc, err := compaction.NewCompactionService(r.inner, r.config())
	if err != nil {
		return nil, err
	}
	view, err := svc.Get(ctx, r.get())
	if err != nil {
		return nil, err
	}
	return eventsOf(view.Session), svc.Close(ctx)
}

func eventsOf(sess session.Session) []*session.Event {
	var events []*session.Event
	for ev := range sess.Events().All() {
		events = append(events, ev)
	}
	return events
}
