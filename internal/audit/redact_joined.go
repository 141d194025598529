package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What is told in two pieces may match as a whole: a key and its value, the parts of a message, an error's
// code and its text. Each piece that takes part in such a match loses what is in it.

// rounds is how often what a redaction leaves is looked at again: it may match in its turn.
const rounds = 10

// spans returns where a text matches, in order; what overlaps is one.
func (r *Redactor) spans(text string) [][]int {
	var all [][]int
	for _, re := range r.patterns {
		all = append(all, re.FindAllStringIndex(text, -1)...)
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

// overlap returns the first span that has a byte between from and to, nil if none has.
func overlap(spans [][]int, from, to int) []int {
	i, _ := slices.BinarySearchFunc(spans, from, func(s []int, at int) int {
		if s[1] <= at {
			return -1
		}
		return 1
	})
	for ; i < len(spans) && spans[i][0] < to; i++ {
		if max(spans[i][0], from) < min(spans[i][1], to) {
			return spans[i]
		}
	}
	return nil
}

// joined redacts texts that are read one behind the other with sep between them. An error means that they
// match still.
func (r *Redactor) joined(sep string, texts ...*string) error {
	if r == nil || len(texts) < 2 {
		return nil
	}
	whole := func() string {
		all := make([]string, len(texts))
		for i, t := range texts {
			all[i] = *t
		}
		return strings.Join(all, sep)
	}
	for range rounds {
		spans, at, cut := r.spans(whole()), 0, false
		for _, t := range texts {
			length := len(*t)
			if overlap(spans, at, at+length) != nil {
				*t, cut = r.Text(without(*t, spans, at)), true
			}
			at += length + len(sep)
		}
		if !cut {
			return nil
		}
	}
	for _, t := range texts {
		*t = redacted
	}
	if text := whole(); len(r.spans(text)) > 0 {
		return fmt.Errorf("a pattern %w: %q: make the pattern narrower", ErrRedact, text)
	}
	return nil
}

// without returns a text that begins at some place of a longer one, without the spans of that one.
func without(text string, spans [][]int, at int) string {
	var out strings.Builder
	inside := false
	for i := range len(text) {
		now := overlap(spans, at+i, at+i+1) != nil
		switch {
		case !now:
			out.WriteByte(text[i])
		case !inside:
			out.WriteString(redacted)
		}
		inside = now
	}
	return out.String()
}

// together redacts a JSON value that matches as one line of JSON: a key and its value, neighbours in a list.
func (r *Redactor) together(value any) any {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return value
	}
	for range rounds {
		hit, some := r.hits(value)
		if !some {
			return value
		}
		next := 0
		value = cutOut(r, value, hit, &next)
	}
	if _, is := value.([]any); is {
		return []any{redacted}
	}
	return map[string]any{redacted: redacted}
}

// hits reports for each key and value of a JSON value, in the order of its text, whether a match of that text
// has a part of it.
func (r *Redactor) hits(value any) (hit []bool, some bool) {
	text, err := marshal(value)
	if err != nil {
		return nil, false
	}
	spans := r.spans(string(text))
	if len(spans) == 0 {
		return nil, false
	}
	for _, t := range jsonTokens(string(text)) {
		is := overlap(spans, t.from, t.to) != nil
		hit = append(hit, is)
		some = some || is
	}
	return hit, some
}

// cutOut replaces the keys and values that are hit; next counts them.
func cutOut(r *Redactor, value any, hit []bool, next *int) any {
	here := *next
	switch v := value.(type) {
	case map[string]any:
		renamed, inner := map[string]string{}, map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			renamed[key] = key
			if hit[*next] {
				renamed[key] = redacted
			}
			*next++
			inner[key] = cutOut(r, v[key], hit, next)
		}
		out := make(map[string]any, len(v))
		for key, name := range r.distinct(renamed) {
			out[name] = inner[key]
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cutOut(r, v[i], hit, next)
		}
		return out
	}
	*next++
	if hit[here] {
		return redacted
	}
	return value
}

// distinct gives each key a name of its own: where redaction made two of them the same, the later ones in the
// order of the keys are numbered.
func (r *Redactor) distinct(renamed map[string]string) map[string]string {
	out, taken := make(map[string]string, len(renamed)), map[string]bool{}
	for key, name := range renamed {
		if key == name {
			out[key], taken[key] = key, true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(renamed)) {
		name := renamed[key]
		if _, done := out[key]; done {
			continue
		}
		for n := 2; taken[name]; n++ {
			if name = fmt.Sprintf("%s %d", renamed[key], n); r.matches(name) {
				name = strings.Repeat(redacted, n) // the number itself matches
			}
		}
		out[key], taken[name] = name, true
	}
	return out
}
