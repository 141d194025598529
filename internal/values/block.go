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
// Each author and day is named once, before its first value, and the values of an author and a day are in the
// order of time; days are those of UTC. If there are so many days that naming them would take up an eighth of the
// line, months are named instead, or years, or authors only. Values that the texts in said have, and those that a
// later value corrects, are left out. The line has at most maxTokens, as package tokens estimates them. A value
// cannot end the line, a value or the frame of a summary.
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
	best := cut(kept, room)
	for len(best) > 0 {
		text := render(best, maxTokens/groupShare)
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

// groupShare is how much of a line the names of its groups may take up: a part of 8.
const groupShare = 8

// periods are how the time of a group is written, and by what groups are ordered.
var periods = []struct{ order, name string }{{"2006-01-02", "2 Jan 2006"}, {"2006-01", "Jan 2006"}, {"2006", "2006"}, {"", ""}}

// render returns the line of values. The names of its groups take up at most maxNames tokens, if that can be.
func render(values []record.Value, maxNames int) string {
	var groups [][]record.Value
	var names []string
	for _, period := range periods {
		groups, names = group(values, period.order, period.name)
		n := 0
		for _, name := range names {
			n += tokens.Estimate(name + ": ")
		}
		if n <= maxNames {
			break
		}
	}
	var b strings.Builder
	b.WriteString(opening)
	for i, g := range groups {
		for k := range g {
			if i+k > 0 {
				b.WriteString(separator)
			}
			if k == 0 && names[i] != "" {
				b.WriteString(names[i] + ": ")
			}
			b.WriteString(g[k].Text)
		}
	}
	return b.String()
}

// group sorts values by period, author (the user is first) and time, and names each author of each period.
func group(values []record.Value, order, name string) (groups [][]record.Value, names []string) {
	period := func(v *record.Value) string {
		if v.At.IsZero() {
			return ""
		}
		return v.At.UTC().Format(order)
	}
	sorted := slices.Clone(values)
	slices.SortStableFunc(sorted, func(a, b record.Value) int {
		return cmp.Or(cmp.Compare(period(&a), period(&b)), cmp.Compare(boolInt(a.Author != "user"), boolInt(b.Author != "user")),
			cmp.Compare(a.Author, b.Author), a.At.Compare(b.At), cmp.Compare(a.Event, b.Event))
	})
	for i := range sorted {
		n := groupName(&sorted[i], name)
		if i == 0 || n != names[len(names)-1] {
			groups, names = append(groups, nil), append(names, n)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], sorted[i])
	}
	return groups, names
}

// groupName is the author and the time of a value, "" if its time is not known.
func groupName(v *record.Value, layout string) string {
	if v.At.IsZero() {
		return ""
	}
	author := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.' {
			return r
		}
		return -1
	}, clip(v.Author, 64))
	at := v.At.UTC().Format(layout)
	if author != "" && at != "" {
		return author + ", " + at
	}
	return author + at
}

// escape returns a value in which nothing ends the line, the value or a frame.
func escape(text string) string {
	return brackets.Replace(clean(strings.ToValidUTF8(text, "")))
}

// brackets replaces those of a frame, and those that look like them.
var brackets = strings.NewReplacer("[", "(", "]", ")", "［", "(", "］", ")", "【", "(", "】", ")", "〔", "(", "〕", ")", "〖", "(", "〗", ")",
	"〘", "(", "〙", ")", "〚", "(", "〛", ")", "⟦", "(", "⟧", ")", "⟬", "(", "⟭", ")", "❲", "(", "❳", ")", "﹝", "(", "﹞", ")", "﹇", "(", "﹈", ")", "⁅", "(", "⁆", ")")

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
	if !hasWords(h.text, fold(core)) {
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

// hasWords reports whether a text has words as whole ones.
func hasWords(text, words string) bool {
	if words == "" {
		return true
	}
	for from := 0; ; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(words)
		l, _ := utf8.DecodeLastRuneInString(text[:at])
		r, _ := utf8.DecodeRuneInString(text[end:])
		if (!ofWord(l) || !ofWord(first(words))) && (!ofWord(r) || !ofWord(last(words))) {
			return true
		}
		_, n := utf8.DecodeRuneInString(text[at:])
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
