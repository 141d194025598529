package persistence

import (
	"fmt"
	"time"
)

// layout has a fixed width, so that text sorts as time does.
const layout = "2006-01-02T15:04:05.000000000Z"

// The layout has four digits for the year. Events have whatever their writer's clock said.
var (
	earliest = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
)

// instant is a time that the layout cannot write.
type instant struct {
	Seconds     int64 `json:"seconds"`
	Nanoseconds int   `json:"nanoseconds"`
}

// formatTime returns t as text, moved into what the layout can write. If it had to be moved, the second
// result says where t really is.
func formatTime(t time.Time) (string, *instant) {
	t = t.UTC()
	switch {
	case t.Before(earliest):
		return earliest.Format(layout), &instant{Seconds: t.Unix(), Nanoseconds: t.Nanosecond()}
	case t.After(latest):
		return latest.Format(layout), &instant{Seconds: t.Unix(), Nanoseconds: t.Nanosecond()}
	}
	return t.Format(layout), nil
}

func parseTime(text string, exact *instant) (time.Time, error) {
	if exact != nil {
		return time.Unix(exact.Seconds, int64(exact.Nanoseconds)).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: %w", text, err)
	}
	return t, nil
}
