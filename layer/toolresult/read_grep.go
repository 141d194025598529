package toolresult

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/internal/pattern"
)

const (
	// maxSearch bounds the bytes that one call searches.
	maxSearch = 32 << 20
	// maxWork bounds the steps that one call takes in RE2, at about 12 ns each: less than a second. Lines without
	// the fixed beginning of a pattern take none.
	maxWork = 1 << 26
	// maxLine is the length in bytes from which a line is searched in parts. A match across two
	// parts is found if it is no longer than lineOverlap. Parts are shorter for a pattern of many steps.
	maxLine     = 1 << 20
	lineOverlap = 4 << 10
	// maxShown is how much of a long line is shown around a match.
	maxShown = 160
)

// grep fills the answer with the lines from its offset up to end that match, each as line:offset:text.
// The offset is that of the match. Of a long line only the part around the match is shown, and further
// matches in it are lines of their own.
func grep(t resultText, index *lineIndex, a answer, end int64, re *pattern.Expression, limit, most int) (answer, error) {
	a.offset = min(a.offset, end)
	line, err := index.lineAt(t, a.offset)
	if err != nil {
		return answer{}, err
	}
	s := search{pattern: re, line: line, limit: limit, most: most, left: maxWork}
	prefix, _ := re.LiteralPrefix()
	s.prefix = []byte(prefix)
	at, stop := a.offset, min(end, a.offset+maxSearch)
	part := int64(min(maxLine, max(maxWork/re.Steps, 2*lineOverlap)))
	var buf []byte
	for at < stop && !s.full && s.left > 0 {
		if buf, err = t.at(buf, at, min(stop, at+part)); err != nil {
			return answer{}, err
		}
		n := s.search(buf, at, at+int64(len(buf)) >= end)
		at += n
		if n < int64(len(buf)) && at+int64(len(buf))-n == stop {
			break // within a line: the next call reads it from its start
		}
	}
	a.content, a.next, a.done = s.out.String(), at, at >= end && !s.full
	switch {
	case a.done && a.content == "":
		a.notes = append(a.notes, "No line matches.")
	case !a.done && !s.full:
		a.notes = append(a.notes, "Only a part was searched: go on at next_offset.")
	}
	return a, nil
}

// search collects matches.
type search struct {
	pattern     *pattern.Expression
	prefix      []byte // begins every match; may be empty
	line        int64  // number of the line at which the next bytes begin
	limit, most int    // bytes of out, as text and as JSON
	out         strings.Builder
	json        int
	left        int // steps that may still be taken
	full        bool
}

// search searches the lines in buf, which begins at offset base, and returns how many bytes are done
// with. Unless buf is the last part of the text, that leaves out an unfinished line.
func (s *search) search(buf []byte, base int64, last bool) int64 {
	done := 0
	for done < len(buf) && !s.full && s.left > 0 {
		done += s.skip(buf[done:])
		line := buf[done:]
		end := bytes.IndexByte(line, '\n')
		upTo := len(line)
		switch {
		case end >= 0:
			line, upTo = line[:end], end+1
		case last:
			upTo++ // $ matches there
		case done > 0:
			return int64(done)
		case len(line) > lineOverlap:
			upTo -= lineOverlap
		}
		done = min(len(buf), done+s.searchLine(line, base+int64(done), upTo))
		if end >= 0 && !s.full {
			s.line++
		}
	}
	return int64(done)
}

// skip returns the length of the whole lines at the start of buf that cannot match.
func (s *search) skip(buf []byte) int {
	if len(s.prefix) == 0 {
		return 0
	}
	without := buf
	if at := bytes.Index(buf, s.prefix); at >= 0 {
		without = buf[:at]
	}
	lines := without[:bytes.LastIndexByte(without, '\n')+1]
	s.line += int64(bytes.Count(lines, []byte{'\n'}))
	return len(lines)
}

// searchLine adds the matches of a line, or a part of one, that begin before upTo. It returns where to
// go on: upTo, or later if a match was shown beyond it, or earlier if the matches do not fit.
func (s *search) searchLine(line []byte, base int64, upTo int) int {
	for from := 0; from <= len(line); {
		match := s.pattern.FindIndex(line[from:])
		if match == nil || from+match[0] >= upTo {
			s.left -= s.pattern.Steps * (len(line) - from + 1)
			return max(from, upTo)
		}
		s.left -= s.pattern.Steps * match[1]
		start, stop := from+match[0], from+match[1]
		lo, hi := excerpt(line, start, stop)
		entry := fmt.Sprintf("%d:%d:%s\n", s.line, base+int64(start), show(line, lo, hi))
		cost := escapedSize(entry, s.most)
		if s.out.Len() > 0 && (s.out.Len()+len(entry) > s.limit || s.json+cost > s.most) {
			s.full = true
			return from
		}
		s.out.WriteString(entry)
		s.json += cost
		if hi == len(line) {
			return max(hi, upTo)
		}
		from = max(hi, stop, start+1)
	}
	return max(len(line), upTo)
}

// excerpt returns the part of a line that is shown for a match: all of a short line.
func excerpt(line []byte, start, stop int) (lo, hi int) {
	if len(line) <= maxShown {
		return 0, len(line)
	}
	lo = runeStart(line, max(0, start-maxShown/4))
	hi = runeStart(line, min(len(line), lo+maxShown))
	return lo, hi
}

// show returns a part of a line as text, with a mark where something of the line is left out.
func show(line []byte, lo, hi int) string {
	shown := strings.ToValidUTF8(string(line[lo:hi]), "\uFFFD")
	if lo > 0 {
		shown = "…" + shown
	}
	if hi < len(line) {
		shown += "…"
	}
	return shown
}
