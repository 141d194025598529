package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheLimitsOfOthersAreTheirs(t *testing.T) {
	t.Parallel()
	lines := func(n, length int) string { return strings.Repeat(strings.Repeat("é", length)+"\n", n) }
	for _, tt := range []struct {
		name    string
		shorten func(text, file string) string
		whole   string // the longest text that stays
		long    string
		most    int // characters of a shortened text
		want    []string
	}{
		{"gemini-cli", likeGemini, strings.Repeat("é", 40_000), strings.Repeat("a", 20_000) + strings.Repeat("z", 40_000), 40_200,
			[]string{"first 8000 and last 32000 characters. For full output see: FILE\n" + strings.Repeat("a", 8_000) + "\n", "[20000 characters omitted]", "\n" + strings.Repeat("z", 32_000)}},
		{"codex, lines", likeCodex, lines(255, 3), "first\n" + lines(300, 3) + "last", 10_240, []string{"first\n", "[... omitted 46 of 302 lines ...]", "last"}},
		{"codex, bytes", likeCodex, strings.Repeat("a", 10_240), strings.Repeat("a", 10_000) + strings.Repeat("é", 10_000), 10_240, []string{"aaa\n[... omitted 0 of 1 lines ...]\n\né"}},
		{"deepagents", likeDeepAgents, strings.Repeat("é", 80_000), "first\n" + lines(50, 2_000) + "last", 11_000, []string{"at this path: FILE\n", "first\n", "[42 lines truncated]", "last"}},
	} {
		if got := tt.shorten(tt.whole, "FILE"); got != tt.whole {
			t.Errorf("%s: a text within the limit is shortened to %d bytes", tt.name, len(got))
		}
		got := tt.shorten(tt.long, "FILE")
		if n := utf8.RuneCountInString(got); n > tt.most || !utf8.ValidString(got) {
			t.Errorf("%s: %d characters left, want at most %d and valid UTF-8", tt.name, n, tt.most)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %.300q lacks %.60q", tt.name, got, want)
			}
		}
	}
}
