package replay

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/record"
)

// maxProblems is how many violations a report spells out.
const maxProblems = 20

// check holds the view to what every view must keep, if a record was stored since it was last held.
func (r *run) check(ctx context.Context) error {
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
	r.holdTo(eventsOf(raw.Session), eventsOf(view.Session))
	return nil
}

// holdTo reports what is wrong with a view of events. A service that reads a file gives other pointers
// each time, and the check tells events apart by theirs.
func (r *run) holdTo(events, view []*session.Event) {
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
	r.problem(oracle.Check(events, view))
}

func (r *run) problem(err error) {
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

// viewAtTheEnd reads the view anew, as a process does that opens the session tomorrow.
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
