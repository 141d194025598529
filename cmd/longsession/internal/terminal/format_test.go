package terminal

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
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
		if got := Shorten(c.text, c.width); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestShortenNeverExceedsTheWidth(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		text, width := rapid.String().Draw(t, "text"), rapid.IntRange(1, 30).Draw(t, "width")
		if got := uniseg.StringWidth(Shorten(Printable(text), width)); got > width {
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
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWrapBreaksBetweenWordsOnly(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zß日]{1,40}`), 1, 60).Draw(t, "words")
		indent := rapid.IntRange(0, 20).Draw(t, "indent")
		wrapped := Screen{}.Wrap(strings.Join(words, " "), indent)
		if got := strings.Fields(wrapped); strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("words %q became %q", words, got)
		}
		for i, line := range strings.Split(wrapped, "\n") {
			if i == 0 {
				line = strings.Repeat(" ", indent) + line
			}
			if n := uniseg.StringWidth(line); n > LineWidth {
				t.Errorf("line of %d columns: %q", n, line)
			}
			if strings.TrimLeft(line, " ") != line[indent:] {
				t.Errorf("line %q is not indented by %d", line, indent)
			}
		}
	})
}
