package values

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

const (
	opening   = "Exact values from these messages: "
	separator = " | "
)

// Block returns the best values of all lists in one line, as it is shown, "" if there are none. For example,
//
//	Exact values from these messages: user, 2 Mar 2026: order ORD-17 | $48.50 | agent, 3 Mar 2026: track 8841
//
// Each author and day is named once, before its first value; days are those of UTC. Within a day, the values of
// an author are in the order of time. Values that the texts in said have, and those that a later value corrects,
// are left out. The line has at most maxTokens, as package tokens estimates them. A value cannot end the line, a
// value or the frame of a summary.
func Block(maxTokens int, said []string, lists ...[]record.Value) string {
	room := maxTokens - tokens.Estimate(opening)
	if room <= 0 {
		return ""
	}
	values := unite(lists)
	replaced := corrections(values)
	held := newHeld(said)
	kept := values[:0:0]
	for i, v := range values {
		if replaced[i] || held.has(&v) {
			continue
		}
		if v.Text = escape(v.Text); v.Text != "" {
			kept = append(kept, v)
		}
	}
	// Values cost as much as the names of their groups allow: take the best, render, and leave out the worst until
	// it fits.
	best := cut(kept, room)
	for len(best) > 0 {
		text := render(best)
		over := tokens.Estimate(text) - maxTokens
		if over <= 0 {
			return text
		}
		for over > 0 && len(best) > 0 {
			over -= cost(&best[len(best)-1])
			best = best[:len(best)-1]
		}
	}
	return ""
}

// render returns the line of values.
func render(values []record.Value) string {
	sorted := slices.Clone(values)
	slices.SortStableFunc(sorted, func(a, b record.Value) int {
		return cmp.Or(cmp.Compare(day(&a), day(&b)), cmp.Compare(boolInt(a.Author != "user"), boolInt(b.Author != "user")), cmp.Compare(a.Author, b.Author), a.At.Compare(b.At), cmp.Compare(a.Event, b.Event))
	})
	var b strings.Builder
	b.WriteString(opening)
	group := ""
	for i := range sorted {
		v := &sorted[i]
		if i > 0 {
			b.WriteString(separator)
		}
		if name := groupOf(v); i == 0 || name != group {
			group = name
			if name != "" {
				b.WriteString(name + ": ")
			}
		}
		b.WriteString(v.Text)
	}
	return b.String()
}

func day(v *record.Value) string {
	if v.At.IsZero() {
		return ""
	}
	return v.At.UTC().Format("2006-01-02")
}

func groupOf(v *record.Value) string {
	if v.At.IsZero() {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.' {
			return r
		}
		return -1
	}, clip(v.Author, 64))
	if name != "" {
		name += ", "
	}
	return name + v.At.UTC().Format("2 Jan 2006")
}

// escape returns a value in which nothing ends the line, the value or a frame.
func escape(text string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(clean(strings.ToValidUTF8(text, "")))
}

// held knows what texts say.
type held struct{ text string }

func newHeld(said []string) held {
	return held{text: fold(strings.Join(said, "\n"))}
}

func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// has reports whether the texts have a value: as whole words, and with the words before it.
func (h held) has(v *record.Value) bool {
	if h.text == "" {
		return false
	}
	before, core := parts(v)
	if !h.hasWords(fold(core)) {
		return false
	}
	if inContext(v.Kind) {
		for word := range strings.FieldsSeq(fold(before)) {
			if !strings.Contains(h.text, word) {
				return false
			}
		}
	}
	return true
}

func (h held) hasWords(words string) bool {
	if words == "" {
		return true
	}
	for from := 0; ; {
		at := strings.Index(h.text[from:], words)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(words)
		l, _ := utf8.DecodeLastRuneInString(h.text[:at])
		r, size := utf8.DecodeRuneInString(h.text[end:])
		if (!ofWord(l) || !ofWord(first(words))) && (!ofWord(r) || !ofWord(last(words))) {
			return true
		}
		_ = size
		_, n := utf8.DecodeRuneInString(h.text[at:])
		from = at + n
	}
}

func last(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func ofWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isHan(r)
}
