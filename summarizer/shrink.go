package summarizer

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/tokens"
)

// floorCap is the smallest limit for one value, in runes: enough for a sentence or two from its
// beginning and one from its end. With less, a line would represent content that it does not show.
const floorCap = 200

// line is one line of a transcript. Its prefix is short, already escaped and never cut. Its value
// is raw and may be cut.
type line struct {
	prefix string
	value  string
	runes  int // of value
	full   int // tokens of the line uncut
}

func newLine(prefix, value string) line {
	l := line{prefix: prefix, value: value, runes: utf8.RuneCountInString(value)}
	l.full = lineTokens(l.text(l.runes))
	return l
}

// lineBreak is the size of a line break in tokens.
var lineBreak = tokens.Estimate("\n")

// lineTokens returns the size of a line with its line break. Sizes are added up line by line, so
// that the [Cost] of single events adds up to the size of any window of them.
func lineTokens(text string) int { return tokens.Estimate(text) + lineBreak }

// text returns the line with its value cut to limit runes.
func (l line) text(limit int) string { return l.prefix + cut(l.value, l.runes, limit) }

// at returns the line under a limit, and its size. A line that cutting would not shorten stays
// whole.
func (l line) at(limit int) (text string, cost int) {
	if l.runes > limit {
		text = l.text(limit)
		if cost = lineTokens(text); cost < l.full {
			return text, cost
		}
	}
	return l.text(l.runes), l.full
}

// cost returns the same size as at, without rendering a line that stays whole.
func (l line) cost(limit int) int {
	if l.runes <= limit {
		return l.full
	}
	return min(l.full, lineTokens(l.text(limit)))
}

// fits reports whether lines take at most budget tokens under a common limit. It stops at the first
// line over the budget, so its time grows with the budget and not with the number of lines.
func fits(lines []line, limit, budget int) bool {
	for _, l := range lines {
		if budget -= l.cost(limit); budget < 0 {
			return false
		}
	}
	return true
}

// commonCap returns the largest common limit under which lines fit. Long values are cut first, and
// short ones stay whole:
//
//	values of 50, 400 and 3,000 runes, room for 1,000    limit 550: 50, 400 and 550 runes
//
// ok is false if the lines do not fit even with a limit of [floorCap].
func commonCap(lines []line, budget int) (limit int, ok bool) {
	longest := floorCap
	for _, l := range lines {
		longest = max(longest, l.runes)
	}
	if fits(lines, longest, budget) {
		return longest, true
	}
	if !fits(lines, floorCap, budget) {
		return 0, false
	}
	low, high := floorCap, longest // low fits, high does not
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(lines, mid, budget) {
			low = mid
		} else {
			high = mid
		}
	}
	return low, true
}

// cut returns s escaped. If s has more than limit runes (runes is their number), a marker replaces
// its middle. The marker counts, so the result is never longer than s escaped. If the limit is too
// small for a marker, only the beginning is kept.
func cut(s string, runes, limit int) string {
	if runes <= limit {
		return escape(s)
	}
	const before, after = "… [", " more characters] …"
	overhead := utf8.RuneCountInString(before) + utf8.RuneCountInString(after) + len(strconv.Itoa(runes))
	keep := limit - overhead
	if keep <= 0 {
		return escape(s[:runeOffset(s, limit)])
	}
	tail := keep / 3
	head := keep - tail
	var b strings.Builder
	b.WriteString(escape(s[:runeOffset(s, head)]))
	b.WriteString(before)
	b.WriteString(strconv.Itoa(runes - keep))
	b.WriteString(after)
	b.WriteString(escape(s[runeOffsetFromEnd(s, tail):]))
	return b.String()
}

// runeOffset returns the offset, in bytes, of the end of the first n runes of s.
func runeOffset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// runeOffsetFromEnd returns the offset, in bytes, of the beginning of the last n runes of s.
func runeOffsetFromEnd(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}
