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
	values  []string // in order
	longest int
	asked   bool // a summary, a focus, a note or an exact value was redacted
	// whole has the texts that were left out because a match goes across them and others, without white space. For
	// example, the pattern key":"[^"]*" leaves out all of the key and its value. No pattern finds such a text where
	// it is alone, as in a list of exact values.
	whole map[string]bool
}

// size is how many texts are remembered.
func (c *cuts) size() int { return len(c.values) + len(c.whole) }

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
	// mostCut bounds the bytes of a value that are remembered: no summary quotes more of one.
	mostCut = 4096
	// cutMark is where a summarizer has cut a text.
	cutMark = "…"
)

// remember notes the matches in a text.
func (c *cuts) remember(r *redact.Redactor, text string) {
	for _, s := range r.Spans(text) {
		value := squeezed(text[s[0]:s[1]])
		value = value[:min(len(value), mostCut)]
		if at, known := slices.BinarySearch(c.values, value); !known && len(value) > fewestCut {
			c.values, c.longest = slices.Insert(c.values, at, value), max(c.longest, len(value))
		}
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
	begin, offsets := "", []int(nil) // the text without white space, and where each of its bytes ends
	for i, char := range text {
		if len(begin) >= c.longest {
			break
		}
		if !unicode.IsSpace(char) {
			begin += string(char)
			for range len(string(char)) {
				offsets = append(offsets, i+utf8.RuneLen(char))
			}
		}
	}
	most := 0
	for _, value := range c.values {
		for n := min(len(value), len(begin)); n >= max(fewestCut, most+1); n-- {
			if strings.HasPrefix(begin, value[len(value)-n:]) {
				most = n
			}
		}
	}
	if most == 0 {
		return 0
	}
	return offsets[most-1]
}

// begun returns the offset at which the beginning of a value ends the text, or -1.
func (c *cuts) begun(text string) int {
	end, found := "", -1
	for i := len(text); i > 0 && len(end) <= c.longest; {
		char, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if unicode.IsSpace(char) {
			continue
		}
		if end = text[i:i+size] + end; len(end) < fewestCut {
			continue
		}
		if at, _ := slices.BinarySearch(c.values, end); at < len(c.values) && strings.HasPrefix(c.values[at], end) {
			found = i
		}
	}
	return found
}
