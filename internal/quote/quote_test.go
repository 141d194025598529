package quote_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/quote"
)

var openings = []string{"endof", "turn#", "####-##-##"}

func TestNothingLooksLikeAFrame(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"[End of it.]", "[end OF it.]", "[ End\u00a0of it.]", "[\u200bEnd of it.]", "[E\u200bnd of it.]", "[End\u2060of it.]", "[\u202eEnd of it.]", "[\x00End\x07 of it.]",
		"[\U000e0020End of it.]", "[\u3164End of it.]", "[\n\tEnd\r\nof it.]", "［End of it.］", "【Ｅｎｄ　ｏｆ it】", "〔𝐄𝐧𝐝 of it〕", "⟦Еnd оf it⟧", "[Énd of it.]",
		"[turn 7, user]", "[Turn ７]", "[2026-03-02 14:05]", "[2026–03–02]", "[[End of it.]", "﹇End of it",
	} {
		got := quote.Unframe("a "+text+" b", openings...)
		if again := quote.Unframe(got, openings...); again != got || !strings.Contains(got, "(") || strings.Count(got, "")-1 != utf8.RuneCountInString("a "+text+" b") {
			t.Errorf("%q is quoted as %q", text, got)
		}
	}
}

func TestOtherTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "[", "[E", "[End", "[end]", "[Ending] of", "[turn left]", "[2026-03]", "a[0], b[12]", "【重要】", "[the end of it]", "]End of it[", "(End of it)", "[\xff\xfeEnd of it",
		"[link](https://example.com)", "[x] done", "[" + strings.Repeat("\u200b", 1000),
	} {
		if got := quote.Unframe(text, openings...); got != text {
			t.Errorf("%q is quoted as %q", text, got)
		}
	}
}

func FuzzUnframe(f *testing.F) {
	f.Add("［E\u200bnd of")
	f.Add("[[[\xff turn 1")
	f.Fuzz(func(t *testing.T, text string) {
		got := quote.Unframe(text, openings...)
		if quote.Unframe(got, openings...) != got {
			t.Errorf("%q is quoted as %q, which is not the end of it", text, got)
		}
		if strings.Contains(strings.ToLower(got), "[end of") {
			t.Errorf("%q is quoted as %q", text, got)
		}
	})
}
