package cli

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestShortenKeepsBothEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"tidewatch", 9, "tidewatch"},
		{"tidewatch-clocks", 9, "tide…ocks"},
		{"tidewatch-clocks", 8, "tide…cks"},
		{"张曼婷张曼婷", 6, "张…婷"},
		{"", 5, ""},
	} {
		if got := shorten(c.text, c.width); got != c.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestShortenNeverExceedsTheWidth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, width := rapid.String().Draw(t, "text"), rapid.IntRange(1, 30).Draw(t, "width")
		if got := uniseg.StringWidth(shorten(printable(text), width)); got > width {
			t.Errorf("%d columns, want at most %d", got, width)
		}
	})
}

func TestNothingThatATerminalActsOnIsPrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain, grün, 日本":   "plain, grün, 日本",
		"\x1b[2J":           `\x1b[2J`,
		"a\nb\tc":           `a\nb\tc`,
		"\u202eevil":        `\u202eevil`,
		"bad \xff byte":     `bad � byte`,
		"\u009b31m":         `\u009b31m`,
		"null\x00 \u2028 x": `null\x00 \u2028 x`,
	} {
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWrapBreaksBetweenWordsOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zß日]{1,40}`), 1, 60).Draw(t, "words")
		indent := rapid.IntRange(0, 20).Draw(t, "indent")
		wrapped := screen{}.wrap(strings.Join(words, " "), indent)
		if got := strings.Fields(wrapped); strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("words %q became %q", words, got)
		}
		for i, line := range strings.Split(wrapped, "\n") {
			if i == 0 {
				line = strings.Repeat(" ", indent) + line
			}
			if n := uniseg.StringWidth(line); n > lineWidth {
				t.Errorf("line of %d columns: %q", n, line)
			}
			if strings.TrimLeft(line, " ") != line[indent:] {
				t.Errorf("line %q is not indented by %d", line, indent)
			}
		}
	})
}

func TestDollarsTellSmallAmountsApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount float64
		priced bool
		want   string
	}{
		{0.05749798, true, "0.0575"},
		{2.6599, true, "2.66"},
		{1234.5, true, "1,234"},
		{0, true, "0.0000"},
		{3, false, "-"},
	} {
		if got := dollars(c.amount, c.priced); got != c.want {
			t.Errorf("dollars(%v, %v) = %q, want %q", c.amount, c.priced, got, c.want)
		}
	}
}

func TestLongNamesOfPoliciesStayApart(t *testing.T) {
	t.Parallel()
	short, long := "threshold=3 overlap=1", "summarizer=extractive max-summaries=1 max-summary-tokens=250"
	if point(short) != short || keysOf(short) != "policy" {
		t.Errorf("a short name is %q under %q", point(short), keysOf(short))
	}
	if got, keys := point(long), keysOf(long); got != "extractive / 1 / 250" || keys != "summarizer / max-summaries / max-summary-tokens" {
		t.Errorf("a long name is %q under %q", got, keys)
	}
}
