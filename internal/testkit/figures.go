package testkit

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Figures compares figures in a document with what was measured, to the digit. The format is the text around
// them as the document has it, a sentence or the rows of a table, with a verb of package fmt for each figure;
// lines may be broken elsewhere, and %d separates thousands. With LONGSESSION_UPDATE in the environment it writes the measured figures into
// the document instead.
func Figures(t testing.TB, file, format string, measured ...any) {
	t.Helper()
	documents.Lock()
	defer documents.Unlock()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is, err := figures(string(text), format, measured)
	switch {
	case err != nil:
		t.Errorf("%s %v", file, err)
	case was == is:
	case os.Getenv("LONGSESSION_UPDATE") != "":
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), was, is, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		is := strings.Split(is, "\n")
		for i, line := range strings.Split(was, "\n") {
			if line != is[i] {
				t.Errorf("%s says\n\t%s\nand this was measured:\n\t%s\nTo write all figures anew: LONGSESSION_DATA=... make figures", file, line, is[i])
			}
		}
	}
}

// documents keeps tests that run at the same time from writing one document at once. "make figures" tests one
// package after the other.
var documents sync.Mutex

var (
	verb   = regexp.MustCompile(`%[-+0-9.]*[a-z%]`)
	space  = regexp.MustCompile(`\s+`)
	figure = `[-+]?\d(?:[\d.,]*\d)?`
	whole  = regexp.MustCompile("^" + figure + "$")
)

// figures returns the part of a text that has the format, as it is and with the measured figures.
func figures(text, format string, measured []any) (was, is string, err error) {
	var pattern strings.Builder
	var shown []string
	literal := func(s string) { pattern.WriteString(space.ReplaceAllString(regexp.QuoteMeta(s), `\s+`)) }
	rest := 0
	for _, at := range verb.FindAllStringIndex(format, -1) {
		literal(format[rest:at[0]])
		rest = at[1]
		v := format[at[0]:at[1]]
		if v == "%%" {
			pattern.WriteString("%")
			continue
		}
		if len(shown) == len(measured) {
			return "", "", fmt.Errorf("cannot be compared: only %d figures for %q", len(measured), format)
		}
		pattern.WriteString("(" + figure + ")")
		n := fmt.Sprintf(v, measured[len(shown)])
		if v == "%d" {
			n = grouped(n)
		}
		if !whole.MatchString(n) {
			return "", "", fmt.Errorf("cannot be compared: %q is no figure, in %q", n, format)
		}
		shown = append(shown, n)
	}
	literal(format[rest:])
	if len(shown) < len(measured) || len(shown) == 0 {
		return "", "", fmt.Errorf("cannot be compared: %d figures, of which %q shows %d", len(measured), format, len(shown))
	}
	found := regexp.MustCompile(pattern.String()).FindAllStringSubmatchIndex(text, -1)
	if len(found) != 1 {
		return "", "", fmt.Errorf("has %d times, and should have once, a text of the form %q", len(found), format)
	}
	at := found[0]
	end := at[0]
	for i, n := range shown {
		is += text[end:at[2*i+2]] + n
		end = at[2*i+3]
	}
	return text[at[0]:at[1]], is + text[end:at[1]], nil
}

// grouped separates the thousands of a whole number.
func grouped(n string) string {
	for i := len(n) - 3; i > 0 && n[i-1] != '-'; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}
