package eventrow

import (
	"fmt"
	"time"
)

// layout has a fixed width, so that times sort as text.
const layout = "2006-01-02T15:04:05.000000000Z"

// The layout has four digits for the year. The timestamp of an event can be outside of its range.
var (
	earliest = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
)

// Instant is a time outside of the years that fit into the text of a time.
type Instant struct {
	Seconds     int64 `json:"seconds"`
	Nanoseconds int   `json:"nanoseconds"`
}

// FormatTime returns t as text. A time outside of the range of the layout becomes the earliest or
// the latest time, and the second result is the exact one.
func FormatTime(t time.Time) (string, *Instant) {
	t = t.UTC()
	switch {
	case t.Before(earliest):
		return earliest.Format(layout), &Instant{Seconds: t.Unix(), Nanoseconds: t.Nanosecond()}
	case t.After(latest):
		return latest.Format(layout), &Instant{Seconds: t.Unix(), Nanoseconds: t.Nanosecond()}
	}
	return t.Format(layout), nil
}

// ParseTime is the inverse of FormatTime.
func ParseTime(text string, exact *Instant) (time.Time, error) {
	if exact != nil {
		return time.Unix(exact.Seconds, int64(exact.Nanoseconds)).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: %w", text, err)
	}
	return t, nil
}
