// Package redact removes private data from text and JSON: the matches of regular expressions, and
// well-known forms such as e-mail addresses. It also finds a match that is hidden by base64, URL
// encoding, escapes or invisible characters.
//
// A text is read in several ways (see readings), and each way knows where its bytes come from in
// the text. The rules look at every reading, and the matches are cut from the text itself.
package redact

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Mark replaces every match.
const Mark = "[redacted]"

// rounds bounds how often a result is redacted again: the text on both sides of a match may match
// in turn.
const rounds = 10

// rule finds private data in a text. It returns pairs of offsets: of the first byte, and behind the
// last one.
type rule func(text string) [][]int

// Redactor redacts the matches of its rules. A nil Redactor redacts nothing. It is safe for
// concurrent use.
type Redactor struct{ rules []rule }

// New compiles regular expressions in Go's syntax and adds the rules of presets, see [Presets]. It
// returns nil if there are neither. It refuses a pattern that matches the empty text or [Mark],
// since its matches would never end.
func New(patterns, presets []string) (*Redactor, error) {
	r := &Redactor{}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("pattern %q: %w: write it in the syntax of Go's package regexp", p, err)
		case re.MatchString(""):
			return nil, fmt.Errorf("pattern %q matches the empty text, which is everywhere: make it match at least one character", p)
		case re.MatchString(Mark) || re.MatchString(strconv.Quote(Mark)):
			return nil, fmt.Errorf("pattern %q matches %q, which replaces every match: make it narrower", p, Mark)
		}
		r.rules = append(r.rules, func(text string) [][]int { return re.FindAllStringIndex(text, -1) })
	}
	for _, name := range presets {
		rules, err := preset(name)
		if err != nil {
			return nil, err
		}
		r.rules = append(r.rules, rules...)
	}
	if len(r.rules) == 0 {
		return nil, nil
	}
	return r, nil
}

// Matches reports whether a text has a match. If the text is JSON, Matches also looks at it without
// spaces.
func (r *Redactor) Matches(text string) bool {
	return r != nil && (len(r.Spans(text)) > 0 || len(r.Spans(compact(text))) > 0)
}

// Text returns a text without matches. Text that is JSON stays JSON, unless it becomes [Mark].
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	for range rounds {
		spans, line := r.Spans(text), compact(text)
		switch {
		case len(spans) > 0 && line == "":
			text, _ = cut(text, spans, 0)
		case len(spans) > 0:
			text = r.JSON(text)
		case len(r.Spans(line)) > 0:
			text = r.JSON(line) // a blank between a key and its value had hidden the match
		default:
			return text
		}
	}
	return Mark
}

// Data reports whether the bytes of a file match, or their base64 does.
func (r *Redactor) Data(data []byte) bool {
	return r != nil && (r.Matches(string(data)) || r.Matches(base64.StdEncoding.EncodeToString(data)))
}

// Joined redacts texts that people read one after the other, separated by sep. Each text loses its
// part of a match: with "one sec" and "ret two", a match of "secret" leaves "one [redacted]" and
// "[redacted] two".
func (r *Redactor) Joined(sep string, texts ...*string) {
	if r == nil {
		return
	}
	for range rounds {
		all := make([]string, len(texts))
		for i, text := range texts {
			all[i] = *text
		}
		spans, at, changed := r.Spans(strings.Join(all, sep)), 0, false
		for i, text := range texts {
			if rest, hit := cut(all[i], spans, at); hit {
				*text, changed = r.Text(rest), true
			}
			at += len(all[i]) + len(sep)
		}
		if !changed {
			return
		}
	}
	for _, text := range texts {
		*text = Mark
	}
}

// cut replaces the parts of a text that spans cover. The spans count from offset bytes before the
// text.
func cut(text string, spans [][]int, offset int) (string, bool) {
	var out strings.Builder
	done := 0
	for _, s := range spans {
		from, to := max(s[0]-offset, done), min(s[1]-offset, len(text))
		if from >= to {
			continue
		}
		out.WriteString(text[done:from])
		out.WriteString(Mark)
		done = to
	}
	return out.String() + text[done:], done > 0
}

// Spans returns the matches in a text, as it is written or decoded, as pairs of offsets in order.
// Overlapping matches are one.
func (r *Redactor) Spans(text string) [][]int {
	if r == nil || text == "" {
		return nil
	}
	return r.spans(text, maxDepth)
}

func (r *Redactor) spans(text string, depth int) [][]int {
	var all [][]int
	for _, as := range readings(text) {
		for _, rule := range r.rules {
			for _, s := range rule(as.text) {
				if s[0] < s[1] && as.text[s[0]:s[1]] != Mark {
					all = append(all, as.origin(s))
				}
			}
		}
		if depth > 0 {
			for _, s := range r.encoded(as.text, depth-1) {
				all = append(all, as.origin(s))
			}
		}
	}
	slices.SortFunc(all, slices.Compare[[]int])
	merged := all[:0]
	for _, s := range all {
		if last := len(merged) - 1; last >= 0 && s[0] < merged[last][1] {
			merged[last][1] = max(merged[last][1], s[1])
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// Overlaps reports whether a span has a byte between from and to.
func Overlaps(spans [][]int, from, to int) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i][1] > from })
	return i < len(spans) && spans[i][0] < to && from < to
}
