package toolresult

import (
	"math/bits"
	"strings"
)

// textRoom is how much of one text may be shown.
type textRoom struct {
	bytes       int  // of its JSON without the quotes, marker included
	lines       int  // without the marker's line
	first, last int  // lines at each end if there are more than lines; they also divide the bytes
	countTokens bool // the marker counts tokens: they are why the text is cut
	most        int  // tokens that the marker may count as kept
	strategy    Strategy
}

// room returns the room of a text that has some of the lines and bytes of a result.
func (l limits) room(bytes, lines int, failed bool) textRoom {
	r := textRoom{bytes: bytes, lines: lines, first: l.HeadLines, last: l.TailLines, most: l.MaxTokens, strategy: l.Strategy}
	switch l.Strategy {
	case Head:
		r.first, r.last = 1, 0
	case Tail:
		r.first, r.last = 0, 1
	case Both:
		r.first, r.last = 1, 1
	case Lines:
		if failed && r.first >= r.last && r.last > 0 {
			// The cause of a failure is usually at the end: give it three quarters.
			r.first, r.last = max(1, (r.first+r.last)/4), r.first+r.last-max(1, (r.first+r.last)/4)
		}
		if lines >= l.MaxLines {
			return r
		}
	}
	// Divide the lines as the bytes are divided.
	sum := r.first + r.last
	head := share(lines, r.first, sum)
	if head == 0 && r.first > 0 && lines > 0 {
		head = 1
	}
	r.first, r.last = head, lines-head
	return r
}

// share returns part/whole of n, where part is at most whole. The product of two limits that are off overflows an int.
func share(n, part, whole int) int {
	if whole == 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(n), uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int(quotient)
}

// cut shortens a text, which must be valid UTF-8, to the room. A text within the room stays as it is. In any
// other text a marker takes the place of the missing part. cut reads both ends of the text only, except to
// count lines and tokens.
func (r textRoom) cut(text string) string {
	c := textCut{textRoom: r, text: text, lines: lineCount(text)}
	if c.lines <= r.lines && escapedSize(text, r.bytes) <= r.bytes {
		return text
	}
	if c.countTokens = c.countTokens || c.strategy != Lines; c.countTokens {
		c.tokens = textTokens(text)
	}
	c.ends(r.bytes - c.longestMarker() - 2*shortEscape)
	marker := c.marker()
	if c.head == "" && c.tail == "" {
		return smallest(marker, r.bytes)
	}
	var out strings.Builder
	out.Grow(len(c.head) + len(c.tail) + len(marker) + 2)
	out.WriteString(c.head)
	if c.head != "" && (c.countTokens || c.headEndsLine()) {
		out.WriteByte('\n')
	}
	out.WriteString(marker)
	if c.tail != "" && (c.countTokens || c.tailBeginsLine()) {
		out.WriteByte('\n')
	}
	out.WriteString(c.tail)
	return out.String()
}

// textCut is a text that is being cut.
type textCut struct {
	textRoom
	text       string
	lines      int // of the whole text
	tokens     int // of the whole text, if they are counted
	head, tail string
}

// headEndsLine reports whether the head ends where a line of the text does.
func (c *textCut) headEndsLine() bool {
	return len(c.head) == len(c.text) || c.text[len(c.head)] == '\n'
}

// tailBeginsLine reports whether the tail begins where a line of the text does.
func (c *textCut) tailBeginsLine() bool {
	start := len(c.text) - len(c.tail)
	return start == 0 || c.text[start-1] == '\n'
}

// marker returns the marker, which counts lines if only whole lines are missing.
func (c *textCut) marker() string {
	if c.countTokens {
		kept := textTokens(c.head, c.tail)
		return truncated(kept, max(kept, c.tokens), c.most, c.side())
	}
	if c.head+c.tail == "" || c.head != "" && !c.headEndsLine() || c.tail != "" && !c.tailBeginsLine() {
		return omitted(len(c.text)-len(c.head)-len(c.tail), len(c.text), "bytes")
	}
	missing := c.lines
	for _, part := range []string{c.head, c.tail} {
		if part != "" {
			missing -= lineCount(part)
		}
	}
	return omitted(missing, c.lines, "lines")
}

// longestMarker returns a size that the marker does not exceed.
func (c *textCut) longestMarker() int {
	if c.countTokens {
		return len(truncated(c.tokens, c.tokens, noLimit, Both))
	}
	return len(omitted(len(c.text), len(c.text), "bytes"))
}

// side is what is kept, as markers name it.
func (c *textCut) side() Strategy {
	switch {
	case c.last == 0, c.head != "" && c.tail == "":
		return Head
	case c.first == 0, c.head == "" && c.tail != "":
		return Tail
	}
	return Both
}

// smallest returns a marker that has room for itself only, or a shorter one, or none.
func smallest(marker string, room int) string {
	for _, m := range []string{marker, shortMarker} {
		if len(m) <= room {
			return m
		}
	}
	return ""
}

// ends sets the beginning and the end of the text that fit into the bytes.
func (c *textCut) ends(bytes int) {
	bytes = max(0, bytes)
	head, tail := c.text, c.text
	fewer := c.lines > c.textRoom.lines
	if fewer {
		head, tail = firstLines(c.text, c.first), lastLines(c.text, c.last)
	}
	if c.first == 0 {
		head = ""
	}
	if c.last == 0 {
		tail = ""
	}
	headSize, tailSize := escapedSize(head, bytes), escapedSize(tail, bytes)
	if !fewer || headSize+tailSize > bytes {
		headRoom := share(bytes, c.first, c.first+c.last)
		headRoom = max(headRoom, bytes-tailSize)
		head = wholeLinesBefore(c.text, prefixWithin(head, headRoom))
		tail = wholeLinesAfter(c.text, suffixWithin(tail, bytes-escapedSize(head, bytes)))
	}
	c.head, c.tail = head, tail
}
