package conversation

import (
	"math"
	"strings"
	"time"
)

// momentIn reads a time: RFC 3339, the same without a zone (UTC), or seconds or milliseconds since
// 1970. It returns the zero time and false for anything else, and no error: a bad time must not
// cost a conversation.
func momentIn(v value) (t time.Time, ok bool) {
	if v.missing() {
		return time.Time{}, true
	}
	if v.is('"') {
		text, _ := v.text("time")
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
			if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
				return t, true
			}
		}
		return time.Time{}, false
	}
	n, err := v.number("time")
	if err != nil || n < 0 || n > 1e14 {
		return time.Time{}, false
	}
	if n > 1e11 { // as seconds, this would be the year 5138
		n /= 1e3
	}
	whole, fraction := math.Modf(n)
	return time.Unix(int64(whole), int64(math.Round(fraction*1e6))*1e3).UTC(), true
}
