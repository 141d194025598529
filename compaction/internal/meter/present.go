package meter

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// appended reports every event as one of the present view: the tally has measured all that was there before.
func appended(*session.Event) bool { return true }

// present returns a function that reports whether an event was stored while a branch had the view that it has now: behind
// the newest summary that it is shown. The order in storage says so, and no clock, because the process that summarized
// may have another than the one that asked the model.
//
// A backend that orders events by time may return the record before or behind the event that was the newest when the
// record was stored: both have the same time, see [record.Metadata.CreatedAt].
func present(v *view.View, branch string) func(ev *session.Event) bool {
	shown := map[string]bool{} // by record ID
	for _, m := range v.Current() {
		if adk.Visible(branch, m.Branch) {
			shown[m.RecordID] = true
		}
	}
	if len(shown) == 0 {
		return appended
	}
	since := map[*session.Event]bool{} // those with a count
	for _, ev := range slices.Backward(v.Raw()) {
		m, err := record.From(ev)
		if err == nil && m != nil && shown[m.RecordID] {
			return func(counted *session.Event) bool {
				return since[counted] && !counted.Timestamp.Equal(ev.Timestamp)
			}
		}
		if ev.UsageMetadata != nil {
			since[ev] = true
		}
	}
	return appended
}
