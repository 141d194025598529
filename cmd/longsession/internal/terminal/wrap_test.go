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

func TestAWordThatIsLongerThanALineBreaksBehindItsCommas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`response: {"order_id":"A-1057","status":"delivered","total":84}`: "response:\n{\"order_id\":\"A-1057\",\n\"status\":\"delivered\",\n\"total\":84}",
		"/home/mara/projects/notebook/orders.txt":                         "/home/mara/projects/\nnotebook/orders.txt",
		strings.Repeat("x", 30) + ",y":                                    strings.Repeat("x", 25) + "\n" + "xxxxx,y",
		"a, b,":                                                           "a, b,",
	} {
		if got := strings.Join(Wrap(text, 25), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
