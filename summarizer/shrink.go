package summarizer

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/tokens"
)

// floorCap is the smallest cap on one part's value, in runes: enough for a sentence or two from its
// beginning and one from its end. Below that a line would stand for something it does not show.
const floorCap = 200

// line is one line of a transcript: a prefix that is always shown whole (it is short and already
// escaped) and a raw value that may be cut.
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

// lineBreak is what a line break adds to a transcript, in tokens.
var lineBreak = tokens.Estimate("\n")

// lineTokens counts a line with its line break. Counting line by line keeps the sum exact: what
// [Cost] says of single events is then true of any window of them.
func lineTokens(text string) int { return tokens.Estimate(text) + lineBreak }

// text renders the line with its value cut to limit runes.
func (l line) text(limit int) string { return l.prefix + cut(l.value, l.runes, limit) }

// at renders the line for a cap and says what it costs, keeping it whole where cutting saves nothing.
func (l line) at(limit int) (text string, cost int) {
	if l.runes > limit {
		text = l.text(limit)
		if cost = lineTokens(text); cost < l.full {
			return text, cost
		}
	}
	return l.text(l.runes), l.full
}

// cost is the second result of at, without rendering a line that stays whole.
func (l line) cost(limit int) int {
	if l.runes <= limit {
		return l.full
	}
	return min(l.full, lineTokens(l.text(limit)))
}

// fits reports whether lines under a common cap stay within budget tokens. It stops at the first
// line over it, so that probing a cap costs time in proportion to the budget, not to the lines.
func fits(lines []line, limit, budget int) bool {
	for _, l := range lines {
		if budget -= l.cost(limit); budget < 0 {
			return false
		}
	}
	return true
}

// commonCap finds the largest cap under which lines fit, the same for all of them: long values give
// way first, short ones stay whole. ok is false if they do not fit even under [floorCap].
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

// cut escapes s, which has the given number of runes, after taking its middle out if there are more
// than limit of them. The marker's own length counts, so the result is never longer than s escaped.
// A limit too small for any marker leaves the beginning alone.
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

// runeOffset is the byte offset behind the first n runes of s.
func runeOffset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// runeOffsetFromEnd is the byte offset before the last n runes of s.
func runeOffsetFromEnd(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}
