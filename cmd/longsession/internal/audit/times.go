package audit

import "time"

// written is the layout of times in the file.
const written = "2006-01-02T15:04:05.000000000Z"

// checkTimes checks that a session has a time of creation, and that it was last updated at the time
// of its newest event.
func (e *examination) checkTimes() {
	if _, err := time.Parse(written, e.Created); err != nil {
		e.find(0, "", RuleTimes, "created_at is %q, which is not a time of the form 2006-01-02T15:04:05.000000000Z", e.Created)
	}
	newest := e.Created
	if n := len(e.rows); n > 0 {
		newest = e.rows[n-1].Time
	}
	if e.Updated != newest {
		e.find(0, "", RuleTimes, "updated_at is %q, but the newest event is of %q: set it so", e.Updated, newest)
	}
}
