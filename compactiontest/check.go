package compactiontest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/oracle"
)

// Check compares a view with the full history it was made from. It returns every violation of the
// rules that a view must keep, joined, or nil if there is none. Each error names the damage that
// such a view does to a model's prompt or to ADK. Check recognizes stored events by pointer: an
// event of the view that is not in the history is taken for a summary.
//
// Check shares no code with the implementation of the view, modifies no argument and is safe for
// concurrent use. Its running time grows with the length of the history.
func Check(events, view []*session.Event) error { return oracle.Check(events, view) }

// CheckCut is [Check] for the view of a service with compaction.Config.Cut. cut is that function for
// the session. Each stored event must be shown in the form that cut returns; the form is then
// recognized as the stored event.
func CheckCut(events, view []*session.Event, cut func(*session.Event) *session.Event) error {
	var errs []error
	stored := slices.Clone(view)
	forms := map[string][]int{} // events with responses, by ID
	for i, ev := range events {
		if ev != nil && len(oracle.ResponseIDs(ev)) > 0 {
			forms[ev.ID] = append(forms[ev.ID], i)
		}
	}
	for k, ev := range view {
		if ev == nil {
			continue
		}
		for _, i := range forms[ev.ID] {
			form := cut(events[i])
			switch {
			case ev == events[i] && form != ev:
				errs = append(errs, fmt.Errorf("event %s is shown whole: the prompt is larger than the app wants it", ev.ID))
			case ev != events[i] && form != events[i] && reflect.DeepEqual(ev, form) && !slices.Contains(stored, events[i]):
				stored[k] = events[i]
			}
		}
	}
	return errors.Join(append(errs, oracle.Check(events, stored))...)
}
