package audit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/internal/said"
)

// cuts removes the beginnings of private values from summaries. A summary may have been cut in the
// middle of such a value, and the rest no longer has its form: half a card number has no check
// digit. So cuts remembers the matches in the events, without their white space. For example, after
// an event with "4111 1111 1111 1111", the summary "card 4111 1111…" becomes "card [redacted]…".
type cuts struct {
	known map[string]bool
	// begins has the values, and ends has them read backwards: what a cut left of a value's end begins one of those.
	begins, ends beginnings
	longest      int
	asked        bool // a summary, a focus, a note or an exact value was redacted
	// whole has the texts that were left out because a match goes across them and others, without white space. For
	// example, the pattern key":"[^"]*" leaves out all of the key and its value. No pattern finds such a text where
	// it is alone, as in a list of exact values.
	whole map[string]bool
}

// size is how many texts are remembered.
func (c *cuts) size() int { return len(c.known) + len(c.whole) }

// rememberWhole notes the texts in JSON, each of which is wholly in a match that goes across several tokens.
func (c *cuts) rememberWhole(r *redact.Redactor, line string, tokens []redact.Token) {
	for _, s := range r.Spans(line) {
		var hit []redact.Token
		for _, t := range tokens {
			if redact.Overlaps([][]int{s}, t.From, t.To) {
				hit = append(hit, t)
			}
		}
		if len(hit) < 2 {
			continue
		}
		if c.whole == nil {
			c.whole = map[string]bool{}
		}
		for _, t := range hit {
			if text := squeezed(t.Text); !t.Key && len(text) >= fewestCut {
				c.whole[text] = true
			}
		}
	}
}

// value redacts an exact value of a record: wholly if it is in a text that was left out, or has one.
func (c *cuts) value(text string) string {
	value := squeezed(text)
	for whole := range c.whole {
		if strings.Contains(value, whole) || strings.Contains(whole, value) {
			return redact.Mark
		}
	}
	return c.take(text)
}

const (
	// fewestCut is the least number of bytes that reveal something of a value.
	fewestCut = 4
	// mostCut bounds the bytes of a value that are looked for: no record quotes more of one.
	mostCut = 8 << 10
	// cutMark is where a summarizer has cut a text.
	cutMark = "…"
)

// remember notes the matches in a text.
func (c *cuts) remember(r *redact.Redactor, text string) {
	for _, s := range r.Spans(text) {
		value := squeezed(text[s[0]:s[1]])
		if len(value) <= fewestCut || c.known[value] {
			continue
		}
		if c.known == nil {
			c.known = map[string]bool{}
		}
		quoted := min(len(value), mostCut)
		c.known[value], c.longest = true, max(c.longest, quoted)
		c.begins.add(value[:quoted])
		c.ends.add(backwards([]byte(value[len(value)-quoted:])))
	}
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// take redacts the beginning of a value at the end of a text and in front of each cut.
func (c *cuts) take(text string) string {
	c.asked = c.asked || text != ""
	pieces := strings.Split(text, cutMark)
	for i, piece := range pieces {
		if from := c.begun(piece); from >= 0 {
			pieces[i] = piece[:from] + redact.Mark
		}
	}
	return strings.Join(pieces, cutMark)
}

// said redacts what a cut has left of a value in what the user said: its beginning in front, and its end behind.
func (c *cuts) said(text string) string {
	pieces := strings.Split(text, said.CutMark)
	for i, piece := range pieces {
		if i > 0 {
			if to := c.ended(piece); to > 0 {
				piece = redact.Mark + piece[to:]
			}
		}
		pieces[i] = c.take(piece)
	}
	return strings.Join(pieces, said.CutMark)
}

// all redacts what cuts have left in every text of a value that cannot be read as what it is.
func (c *cuts) all(value any) any {
	switch v := value.(type) {
	case string:
		return c.said(v)
	case []any:
		for i := range v {
			v[i] = c.all(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = c.all(v[key])
		}
	}
	return value
}

// ended returns the offset up to which the end of a value begins the text, 0 for none.
func (c *cuts) ended(text string) int {
	var begin []byte
	var offsets []int // where each byte's character ends
	for i := 0; i < len(text) && len(begin) < c.longest; {
		char, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(char) {
			begin = append(begin, text[i:i+size]...)
			for range size {
				offsets = append(offsets, i+size)
			}
		}
		i += size
	}
	n := c.ends.atEndOf(backwards(begin))
	if n == 0 {
		return 0
	}
	return offsets[n-1]
}

// begun returns the offset at which the beginning of a value ends the text, or -1.
func (c *cuts) begun(text string) int {
	var end []byte    // backwards
	var offsets []int // where each byte's character begins
	for i := len(text); i > 0 && len(end) < c.longest; {
		char, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if unicode.IsSpace(char) {
			continue
		}
		for at := i + size - 1; at >= i; at-- {
			end, offsets = append(end, text[at]), append(offsets, i)
		}
	}
	n := c.begins.atEndOf(backwards(end))
	if n == 0 {
		return -1
	}
	return offsets[n-1]
}

// backwards turns bytes around, in place.
func backwards(text []byte) string {
	slices.Reverse(text)
	return string(text)
}

// beginnings finds where a text breaks off within one of many values. The zero value has none.
type beginnings struct {
	sorted []string
	added  []string // since they were sorted
}

func (b *beginnings) add(value string) { b.added = append(b.added, value) }

// atEndOf returns how many bytes at the end of a text begin a value: the most, 0 if they are fewer than fewestCut.
func (b *beginnings) atEndOf(text string) int {
	if len(b.added) > 0 {
		b.sorted, b.added = append(b.sorted, b.added...), nil
		slices.Sort(b.sorted)
	}
	for from := range max(0, len(text)-fewestCut+1) {
		end := text[from:]
		if at, _ := slices.BinarySearch(b.sorted, end); at < len(b.sorted) && strings.HasPrefix(b.sorted[at], end) {
			return len(end)
		}
	}
	return 0
}
