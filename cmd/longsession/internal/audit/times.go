package audit

import "time"

// written is how the file writes a time.
const written = "2006-01-02T15:04:05.000000000Z"

// checkTimes: a session was written to last when its newest event says, and made at some time.
func (e *examination) checkTimes() {
	if _, err := time.Parse(written, e.Created); err != nil {
		e.find(0, "", RuleTimes, "created_at is %q, and no time as the file writes it (2006-01-02T15:04:05.000000000Z)", e.Created)
	}
	newest := e.Created
	if n := len(e.rows); n > 0 {
		newest = e.rows[n-1].Time
	}
	if e.Updated != newest {
		e.find(0, "", RuleTimes, "updated_at is %q, and the newest event is of %q: set it so", e.Updated, newest)
	}
}
