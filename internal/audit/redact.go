package audit

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"strconv"
)

// redacted takes the place of what a pattern matches.
const redacted = "[redacted]"

// ErrRedact is the error of a match that cannot be taken out, such as a flag or the year of a time.
var ErrRedact = errors.New("matches what cannot be left out")

// Redactor takes out what matches any of its patterns. A nil one takes out nothing. It is safe for
// concurrent use.
type Redactor struct{ patterns []*regexp.Regexp }

// NewRedactor compiles regular expressions in Go's syntax; nil for none. A pattern that matches nothing at
// all, or what is put in its place, is refused: its matches could never be gone.
func NewRedactor(patterns []string) (*Redactor, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	r := &Redactor{}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("pattern %q: %w: write it in the syntax of Go's package regexp", p, err)
		case re.MatchString(""):
			return nil, fmt.Errorf("pattern %q matches the empty text, which is everywhere: make it match at least one character", p)
		case re.MatchString(redacted) || re.MatchString(strconv.Quote(redacted)):
			return nil, fmt.Errorf("pattern %q matches %q, which takes the place of what is redacted: make it narrower", p, redacted)
		}
		r.patterns = append(r.patterns, re)
	}
	return r, nil
}

// matches reports whether a text has anything to redact, also where the text is JSON that writes it in
// escapes.
func (r *Redactor) matches(text string) bool {
	for _, re := range r.patterns {
		if re.MatchString(text) {
			return true
		}
	}
	inner, is := asJSON(text)
	if !is {
		return false
	}
	if r.find(inner, "", true) != "" {
		return true
	}
	_, some := r.hits(inner)
	return some
}

// Text returns a text without matches.
func (r *Redactor) Text(text string) string {
	if r == nil || !r.matches(text) {
		return text
	}
	if inner, is := asJSON(text); is {
		if out, err := marshal(r.value(inner)); err == nil {
			text = string(bytes.TrimSpace(out))
		}
	}
	// What stands on both sides of a match may match in its turn.
	for range rounds {
		for _, re := range r.patterns {
			text = re.ReplaceAllLiteralString(text, redacted)
		}
		if !r.matches(text) {
			return text
		}
	}
	return redacted
}

// value returns a JSON value without matches, also of what stands side by side in it. A number or a truth
// that matches becomes a text.
func (r *Redactor) value(value any) any { return r.together(r.each(value)) }

// object is value for an object. One that JSON cannot write is redacted as a whole.
func (r *Redactor) object(of any) map[string]any {
	if out, is := r.value(plain(of)).(map[string]any); is {
		return out
	}
	return map[string]any{redacted: redacted}
}

// each redacts every text, key, number and truth of a JSON value by itself.
func (r *Redactor) each(value any) any {
	switch v := value.(type) {
	case string:
		return r.Text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, name := range r.names(maps.Keys(v)) {
			out[name] = r.each(v[key])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = r.each(inner)
		}
		return out
	case nil:
		return nil
	}
	text, err := marshal(value)
	if err == nil && r.matches(string(bytes.TrimSpace(text))) {
		return redacted
	}
	return value
}

// names returns for each key what it becomes; no two become the same.
func (r *Redactor) names(keys iter.Seq[string]) map[string]string {
	renamed := map[string]string{}
	for key := range keys {
		renamed[key] = r.Text(key)
	}
	return r.distinct(renamed)
}
