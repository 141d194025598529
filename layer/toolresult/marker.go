package toolresult

import (
	"fmt"
	"strconv"
	"strings"
)

// The beginnings of all texts that take the place of a missing part. [IsShortened] looks for them.
const (
	omittedPrefix   = "[... omitted "
	truncatedPrefix = "[truncated: kept "
	stubPrefix      = "[Tool result stored — "
	shortMarker     = "[...]" // the whole text, where there is no room for more
)

// omitted returns the marker for missing units of a text or a container, for example
// [... omitted 9,744 of 10,000 lines ...].
func omitted(missing, total int, unit string) string {
	return omittedPrefix + grouped(missing) + " of " + grouped(total) + " " + unit + " ...]"
}

// omittedSize is the length of what omitted returns.
func omittedSize(missing, total int, unit string) int {
	return len(omittedPrefix) + groupedSize(missing) + len(" of ") + groupedSize(total) + len(" ") + len(unit) + len(" ...]")
}

// groupedSize is the length of what grouped returns.
func groupedSize(n int) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits + (digits-1)/3
}

// truncated returns the marker in a text that a token limit or a strategy cut, for example
// [truncated: kept first ~8000 of ~52000 tokens (head)]. Rounding never takes what is kept over most.
func truncated(kept, total, most int, s Strategy) string {
	part := "first+last"
	switch s {
	case Head:
		part = "first"
	case Tail:
		part = "last"
	default:
		s = Both
	}
	if up := rounded(kept); up <= most {
		kept = up
	}
	return fmt.Sprintf("%s%s ~%d of ~%d tokens (%s)]", truncatedPrefix, part, kept, max(kept, rounded(total)), s)
}

// grouped writes a number with commas: 10,000.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	if n < 0 || len(digits) <= 3 {
		return digits
	}
	var out strings.Builder
	first := (len(digits)-1)%3 + 1
	out.WriteString(digits[:first])
	for i := first; i < len(digits); i += 3 {
		out.WriteByte(',')
		out.WriteString(digits[i : i+3])
	}
	return out.String()
}

// rounded returns an estimate with the precision that it has: 7,968 tokens are about 8000.
func rounded(n int) int {
	switch {
	case n >= 1000:
		return (n + 50) / 100 * 100
	case n >= 100:
		return (n + 5) / 10 * 10
	}
	return n
}
