package kept

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/values"
)

const benchmarks = "../../BENCHMARKS.md"

// perRule is how many mutated summaries each rule is measured with.
const perRule = 400

// another returns a value of the same form: each letter and each digit becomes another one, vowels become vowels, and the
// ending of a file stays. A date becomes another date, and a time of day another one.
func another(r *rand.Rand, value string) string {
	if m := isoDate.FindString(value); m != "" {
		return strings.Replace(value, m, fmt.Sprintf("%s-%02d-%02d", m[:4], 1+r.IntN(12), 1+r.IntN(28)), 1)
	}
	if m := dayOf.FindStringSubmatchIndex(value); m != nil {
		return value[:m[2]] + fmt.Sprint(1+r.IntN(28)) + value[m[3]:]
	}
	if m := clock.FindStringSubmatchIndex(value); m != nil {
		return value[:m[2]] + fmt.Sprintf("%02d", 1+r.IntN(58)) + value[m[3]:]
	}
	const vowels, consonants = "aeiou", "bcdfglmnprst"
	stem, ending := value, ""
	if at := strings.LastIndexByte(value, '.'); at > 0 && !strings.ContainsAny(value[at:], "0123456789/") && len(value)-at <= 6 {
		stem, ending = value[:at], value[at:]
	}
	return strings.Map(func(c rune) rune {
		lower, letters := unicode.ToLower(c), consonants
		if strings.ContainsRune(vowels, lower) {
			letters = vowels
		}
		switch {
		case unicode.IsDigit(c):
			return '1' + rune(r.IntN(9))
		case unicode.IsUpper(c):
			return unicode.ToUpper(rune(letters[r.IntN(len(letters))]))
		case unicode.IsLetter(c):
			return rune(letters[r.IntN(len(letters))])
		}
		return c
	}, stem) + ending
}

var (
	isoDate = regexp.MustCompile(`\d{4}-\d\d-\d\d`)
	dayOf   = regexp.MustCompile(`(?:January|February|March|April|May|June|July|August|September|October|November|December) (\d+)`)
	clock   = regexp.MustCompile(`\d:(\d\d)`)
	digits  = regexp.MustCompile(`\d+(?:[.,]\d+)*`)
)

// hasForm reports whether a text has a value, or the number or the day that it is.
func hasForm(text, kind, value string) bool {
	if strings.Contains(text, value) {
		return true
	}
	switch kind {
	case values.Number, values.Money:
		return strings.Contains(text, digits.FindString(value))
	case values.Date:
		if m := isoDate.FindString(value); m != "" {
			at, err := time.Parse(time.DateOnly, m)
			return err != nil || strings.Contains(text, m[5:]) || strings.Contains(text, at.Format("January 2"))
		}
		if m := dayOf.FindString(value); m != "" {
			at, err := time.Parse("January 2", m)
			return err != nil || strings.Contains(text, at.Format("01-02")) || strings.Contains(text, m)
		}
		m := clock.FindStringSubmatch(value)
		return m == nil || strings.Contains(text, ":"+m[1])
	}
	return false
}

// mayBeInvented leaves out what a summary writes of its own: what it counts, words in capitals such as CLOSED, and one or two
// quoted words.
func mayBeInvented(v values.Exact) bool {
	hasDigit := strings.ContainsAny(v.Text, "0123456789")
	switch v.Kind {
	case values.Number:
		var n number
		eachNumber(v.Text, func(one number) { n = one })
		return n.groups != nil || len(n.readings) == 1 && n.readings[0] >= countsBelow
	case values.ID:
		return hasDigit || strings.ToUpper(v.Text) != v.Text
	case values.Quote:
		return hasDigit || len(strings.Fields(v.Text)) > 2
	}
	return true
}

// invent swaps a value of a summary for one of the same form that its source does not have, and returns the summary with
// it; false if this try has found none.
func invent(r *rand.Rand, s *summarized) (text, what string, ok bool) {
	units := unitsOf(s.text)
	u := units[r.IntN(len(units))]
	words := s.text[u.begin:u.end]
	found := values.In(words)
	if u.code || len(found) == 0 {
		return "", "", false
	}
	one := found[r.IntN(len(found))]
	if s.alarms[one.Text] || !mayBeInvented(one) {
		return "", "", false
	}
	old := one.Text
	if one.Kind == values.Number {
		old, _, _ = strings.Cut(old, " ")
	}
	swapped := another(r, old)
	if swapped == old || hasForm(s.whole, one.Kind, swapped) {
		return "", "", false
	}
	return s.text[:u.begin] + strings.Replace(words, old, swapped, 1) + s.text[u.end:], one.Kind + " " + old + " -> " + swapped, true
}

// TestInventedValuesAreCaught: 100 values of recorded summaries are swapped for others of the same form, and 100 of digests of
// other recordings, where most values are numbers, dates and amounts.
func TestInventedValuesAreCaught(t *testing.T) {
	for _, files := range [][]string{{coding}, others} {
		all, r := summaries(t, files...), rand.New(rand.NewPCG(33, 2))
		caught := 0
		for n := 0; n < perRule; {
			s := &all[r.IntN(len(all))]
			text, what, ok := invent(r, s)
			if !ok {
				continue
			}
			n++
			is := false
			for _, f := range s.source.Check(text).Findings {
				is = is || !s.alarms[f.Value]
			}
			if is {
				caught++
			} else {
				t.Logf("%v: missed: %s", files, what)
			}
		}
		t.Logf("%v: %d of %d inventions are caught", files, caught, perRule)
		row := "| values of recorded summaries, each swapped for one of its form"
		if files[0] != coding {
			row = "| values of digests, swapped likewise"
		}
		testkit.Figures(t, benchmarks, row+" | %d | %d | %d |", perRule, caught, perRule-caught)
		if 100*caught < 90*perRule {
			t.Errorf("%v: %d of %d inventions are caught, want 90 %%", files, caught, perRule)
		}
	}
}

// TestLeavingValuesOutIsMeasured: a summary without a tenth of its lines that hold values holds a smaller share.
func TestLeavingValuesOutIsMeasured(t *testing.T) {
	all, r := summaries(t, append(others, coding)...), rand.New(rand.NewPCG(33, 3))
	fell := 0
	for n := 0; n < perRule; {
		s := &all[r.IntN(len(all))]
		whole, _, measured := Share(s.values, s.text)
		lines := strings.SplitAfter(s.text, "\n")
		var left []string
		dropped := 0
		for _, line := range lines {
			if len(values.In(line)) > 0 && r.IntN(10) == 0 {
				dropped++
				continue
			}
			left = append(left, line)
		}
		if !measured || whole == 0 || dropped == 0 {
			continue
		}
		n++
		if share, _, _ := Share(s.values, strings.Join(left, "")); share < whole {
			fell++
		}
	}
	t.Logf("%d of %d omissions lower the share", fell, perRule)
	testkit.Figures(t, benchmarks, "| summaries without a tenth of the lines that have values: the share falls | %d | %d | %d |", perRule, fell, perRule-fell)
	if 100*fell < 75*perRule {
		t.Errorf("%d of %d omissions lower the share, want 75 %%", fell, perRule)
	}
}

// TestWhatIsTurnedAroundIsCaught: a user corrects one value of a recording to another one, and the summary says it as it was
// said, in a form of its own, or the other way around.
func TestWhatIsTurnedAroundIsCaught(t *testing.T) {
	forms := []string{ // %[1]s is wrong, %[2]s is right
		"It is not %[1]s but %[2]s.", "Use %[2]s, not %[1]s.", "Use %[2]s instead of %[1]s.", "Instead of %[1]s, take %[2]s.", "I want %[2]s rather than %[1]s.",
		"No, I meant %[2]s and not %[1]s!", "Bitte %[2]s statt %[1]s verwenden.", "Es ist nicht %[1]s, sondern %[2]s.",
	}
	all, r := summaries(t, append(others, coding)...), rand.New(rand.NewPCG(33, 4))
	caught, alarms := 0, 0
	for n := 0; n < perRule; {
		s := &all[r.IntN(len(all))]
		if len(s.values) < 8 {
			continue
		}
		value := func() string {
			core, _ := values.Core(&s.values[r.IntN(len(s.values))])
			return core.Text
		}
		wrong, right := value(), value()
		if onlyWrong, onlyRight := apart(atomsOf(wrong), atomsOf(right)); len(onlyWrong) == 0 || len(onlyRight) == 0 {
			continue // one is a part of the other
		}
		n++
		source := NewSource(s.events, "Thanks. "+fmt.Sprintf(forms[r.IntN(len(forms))], wrong, right)+" Please go on.")
		turned := func(form, a, b string) bool {
			for _, f := range source.Check(s.text + "\n\nThe user corrected it: " + fmt.Sprintf(form, a, b)).Findings {
				if f.Turned {
					return true
				}
			}
			return false
		}
		form := forms[r.IntN(len(forms))]
		if turned(form, right, wrong) {
			caught++
		} else {
			t.Logf("missed: %s", fmt.Sprintf(form, right, wrong))
		}
		if turned(form, wrong, right) {
			alarms++
			t.Logf("wrongly: %s", fmt.Sprintf(form, wrong, right))
		}
	}
	t.Logf("%d of %d are caught, with %d false alarms", caught, perRule, alarms)
	testkit.Figures(t, benchmarks, "| corrections, turned around | %d | %d | %d |", perRule, caught, perRule-caught)
	testkit.Figures(t, benchmarks, "| the same corrections, as they were made | %d | %d |", perRule, alarms)
	if 100*caught < 90*perRule || alarms > perRule/100 {
		t.Errorf("%d of %d are caught, want 90 %%, with %d false alarms", caught, perRule, alarms)
	}
}

func atomsOf(text string) (out []uint64) {
	eachAtom(text, func(a atom) { out = append(out, a.hash) })
	return out
}
