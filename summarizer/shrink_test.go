package summarizer

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCuttingNeverEnlarges(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", "\n", "漢", "🙂", "\x00", "\xff", "a\u2028"} {
		for n := range 400 {
			s := strings.Repeat(unit, n)
			runes := utf8.RuneCountInString(s)
			whole := utf8.RuneCountInString(escape(s))
			for _, limit := range []int{0, 1, 10, 40, floorCap, runes - 1, runes} {
				if got := cut(s, runes, max(limit, 0)); utf8.RuneCountInString(got) > whole {
					t.Fatalf("%d times %q under %d grew from %d to %d characters", n, unit, limit, whole, utf8.RuneCountInString(got))
				}
			}
		}
	}
}

func TestCutSaysHowMuchIsMissing(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("x", 1000)
	got := cut(s, 1000, 100)
	head, rest, _ := strings.Cut(got, "… [")
	number, tail, _ := strings.Cut(rest, " more characters] …")
	shown := len(head) + len(tail)
	if number != strconv.Itoa(1000-shown) || shown < 60 || utf8.RuneCountInString(got) > 100 {
		t.Errorf("got %q: %d characters shown, %q said to be missing", got, shown, number)
	}
}

func TestEscapingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", `C:\temp\new "x"`, "a\nb\r\t\v\f\u0085\u2028\u2029\x00\x7f\u202e", "\xff\xfe", "\ufffd", `{"a":"b\n"}`} {
		once := escape(s)
		if twice := escape(once); twice != once {
			t.Errorf("%q became %q, then %q", s, once, twice)
		}
		if strings.ContainsFunc(once, func(r rune) bool { return r != utf8.RuneError && hostile(r) }) || !utf8.ValidString(once) {
			t.Errorf("%q is still unsafe: %q", s, once)
		}
	}
	if got := escape(`C:\temp\new`); got != `C:\temp\new` {
		t.Errorf("a path changed to %q", got)
	}
}
