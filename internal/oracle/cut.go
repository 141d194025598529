package oracle

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"google.golang.org/adk/session"
)

// CheckCut is [Check] for the view of a service with compaction.Config.Cut. cut is that function for
// the session. Each stored event must be shown in the form that cut returns; the form is then
// recognized as the stored event.
func CheckCut(events, view []*session.Event, cut func(*session.Event) *session.Event) error {
	var errs []error
	stored := slices.Clone(view)
	forms := map[string][]int{} // events with responses, by ID
	for i, ev := range events {
		if ev != nil && len(ResponseIDs(ev)) > 0 {
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
	return errors.Join(append(errs, Check(events, stored))...)
}
