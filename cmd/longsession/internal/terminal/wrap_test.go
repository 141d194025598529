package terminal

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func TestTextIsWrappedByWhatItTakesUp(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"short", "", "two words that go over several lines of the terminal", "averyveryverylongwordwithoutanyplacetobreakit and more",
		"漢字仮名交じり文は幅が二倍である", "a  b   c", "one\ntwo\n\nthree\n", "e\u0301e\u0301e\u0301 👩‍👩‍👧‍👦 👩‍👩‍👧‍👦 family",
	} {
		for _, width := range []int{5, 8, 20, 80} {
			lines := WrapText(text, width)
			for _, line := range lines {
				if uniseg.StringWidth(line) > width {
					t.Errorf("width %d: line %q of %q", width, line, text)
				}
			}
			strip := strings.NewReplacer(" ", "", "\n", "")
			if got, want := strip.Replace(strings.Join(lines, "")), strip.Replace(strings.Join(WrapText(text, 1000), "")); got != want {
				t.Errorf("width %d: %q became %q", width, want, got)
			}
		}
	}
	if got := Pad("漢字", 6); got != "漢字  " {
		t.Errorf("padded to %q", got)
	}
}
