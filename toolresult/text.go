package toolresult

import (
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/tokens"
)

// textRoom is how much of one text may be shown.
type textRoom struct {
	bytes       int  // of its JSON without the quotes, marker included
	lines       int  // without the marker's line
	head, tail  int  // lines at each end if there are more than lines; they also divide the bytes
	countTokens bool // the marker counts tokens: they are why the text is cut
	strategy    Strategy
}

// room returns the room of a text that has some of the lines and bytes of a result.
func (l limits) room(bytes, lines int, failed bool) textRoom {
	r := textRoom{bytes: bytes, lines: lines, head: l.HeadLines, tail: l.TailLines, strategy: l.Strategy}
	switch l.Strategy {
	case Head:
		r.head, r.tail = 1, 0
	case Tail:
		r.head, r.tail = 0, 1
	case Both:
		r.head, r.tail = 1, 1
	case Lines:
		if failed && r.head >= r.tail && r.tail > 0 {
			// The cause of a failure is usually at the end: give it three quarters.
			r.head, r.tail = max(1, (r.head+r.tail)/4), r.head+r.tail-max(1, (r.head+r.tail)/4)
		}
		if lines >= l.MaxLines {
			return r
		}
	}
	// Divide the lines as the bytes are divided.
	sum := r.head + r.tail
	head := lines * r.head / sum
	if head == 0 && r.head > 0 && lines > 0 {
		head = 1
	}
	r.head, r.tail = head, lines-head
	return r
}

// cut returns a text within the room. A text that is within it stays as it is; else a marker says how much
// is missing. It touches both ends of the text only, except to count lines.
func (r textRoom) cut(text string) string {
	lines := lineCount(text)
	if lines <= r.lines && escapedSize(text, r.bytes) <= r.bytes {
		return text
	}
	total := 0
	countTokens := r.countTokens || r.strategy != Lines
	if countTokens {
		total = estimate(text)
	}
	marker := func(head, tail string) string {
		if countTokens {
			return truncated(tokens.Estimate(head)+tokens.Estimate(tail), total, r.side())
		}
		rest := len(text) - len(tail)
		if (head == "" || text[len(head)] == '\n') && (tail == "" || text[rest-1] == '\n') && head+tail != "" {
			kept := 0
			for _, part := range []string{head, tail} {
				if part != "" {
					kept += lineCount(part)
				}
			}
			return omitted(lines-kept, lines, "lines")
		}
		return omitted(rest-len(head), len(text), "bytes")
	}
	longest := max(len(truncated(total, total, Both)), len(omitted(len(text), len(text), "bytes")))
	head, tail := r.ends(text, lines, r.bytes-longest-2*shortEscape)
	m := marker(head, tail)
	if head == "" && tail == "" {
		return smallest(m, r.bytes)
	}
	var out strings.Builder
	out.Grow(len(head) + len(tail) + len(m) + 2)
	if head != "" {
		out.WriteString(canonical.Text(head))
		out.WriteByte('\n')
	}
	out.WriteString(m)
	if tail != "" {
		out.WriteByte('\n')
		out.WriteString(canonical.Text(tail))
	}
	return out.String()
}

// side is the strategy as markers name it.
func (r textRoom) side() Strategy {
	switch {
	case r.tail == 0:
		return Head
	case r.head == 0:
		return Tail
	}
	return Both
}

// smallest returns a marker that has room for itself only, or a shorter one, or none.
func smallest(marker string, room int) string {
	for _, m := range []string{marker, "[...]"} {
		if len(m) <= room {
			return m
		}
	}
	return ""
}

// ends returns the beginning and the end of a text that fit into the bytes.
func (r textRoom) ends(text string, lines, bytes int) (head, tail string) {
	head, tail = text, text
	if lines > r.lines {
		head, tail = firstLines(text, r.head), lastLines(text, r.tail)
	}
	if r.head == 0 {
		head = ""
	}
	if r.tail == 0 {
		tail = ""
	}
	bytes = max(0, bytes)
	headSize, tailSize := escapedSize(head, bytes), escapedSize(tail, bytes)
	if lines > r.lines && headSize+tailSize <= bytes {
		return head, tail
	}
	headRoom := bytes * r.head / max(1, r.head+r.tail)
	if tailSize < bytes-headRoom {
		headRoom = bytes - tailSize
	}
	head = wholeLinesBefore(text, prefixWithin(head, headRoom))
	tail = wholeLinesAfter(text, suffixWithin(tail, bytes-escapedSize(head, bytes)))
	return head, tail
}

// partialLine is the share of a piece that is given up so that it ends at the end of a line: a quarter.
const partialLine = 4

// wholeLinesBefore removes a partial line from the end of a beginning of the text, if it is short.
func wholeLinesBefore(text, head string) string {
	if len(head) == len(text) || text[len(head)] == '\n' {
		return head
	}
	if end := strings.LastIndexByte(head, '\n'); end >= 0 && len(head)-end <= len(head)/partialLine {
		return head[:end]
	}
	return head
}

// wholeLinesAfter removes a partial line from the beginning of an end of the text, if it is short.
func wholeLinesAfter(text, tail string) string {
	if start := len(text) - len(tail); start == 0 || text[start-1] == '\n' {
		return tail
	}
	if end := strings.IndexByte(tail, '\n'); end >= 0 && end < len(tail)/partialLine {
		return tail[end+1:]
	}
	return tail
}

// lineCount returns the number of lines. A newline at the end begins no line.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// firstLines returns the first n lines, without the last newline.
func firstLines(text string, n int) string {
	end := -1
	for range n {
		next := strings.IndexByte(text[end+1:], '\n')
		if next < 0 {
			return text
		}
		end += 1 + next
	}
	return text[:max(0, end)]
}

// lastLines returns the last n lines.
func lastLines(text string, n int) string {
	start := len(strings.TrimSuffix(text, "\n"))
	for range n {
		if start = strings.LastIndexByte(text[:start], '\n'); start < 0 {
			return text
		}
	}
	if n == 0 {
		return ""
	}
	return text[start+1:]
}

// The sampling of a large text: pieces of it, evenly spread.
const (
	wholeEstimate = 256 << 10
	samples       = 32
	sampleBytes   = 4 << 10
)

// estimate returns the approximate number of tokens of a text, of a large one from samples.
func estimate(text string) int {
	if len(text) <= wholeEstimate {
		return tokens.Estimate(text)
	}
	sum := 0
	for i := range samples {
		start := (len(text) - sampleBytes) / (samples - 1) * i
		sum += tokens.Estimate(text[start : start+sampleBytes])
	}
	return int(int64(sum) * int64(len(text)) / (samples * sampleBytes))
}
