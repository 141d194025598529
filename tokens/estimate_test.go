package tokens

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// milli returns the sum of weights before rounding.
func milli(text string) int64 {
	var c counter
	c.write(text)
	return c.milli
}

func TestEachClassCostsItsWeight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       int64
	}{
		{"word", "letter", wWord},
		{"letters after the sixth", "sentence", wWord + 2*wLongWord},
		{"one blank belongs to the next word", "two words", 2 * wWord},
		{"further blanks of a run", "two    words", 2*wWord + 3*wFurtherBlank},
		{"a number of up to three digits", "202", wDigit + 2*wFurtherDigit},
		{"a longer number", "2026120", 3*wDigit + 4*wFurtherDigit},
		{"digits end a word", "abc1def", 2*wWord + wDigit},
		{"punctuation", "a.b", 2*wWord + wPunct},
		{"run of punctuation", `"},{"`, wPunct + 4*wFurtherPunct},
		{"blank ends a run of punctuation", ", -", 2 * wPunct},
		{"newline", "a\nb", 2*wWord + wNewline},
		{"indentation and empty lines", "a\n\n\tb", 2*wWord + wNewline + 2*wFurtherBlank},
		{"acronym", "HTTP", wWord + 3*wCapitals},
		{"capitals of one word apart", "ReadFile", wWord + 2*wLongWord},
		{"long constant", "MAXIMUMS", wWord + 7*wCapitals + 2*wLongWord},
		{"Han", "你好", 2 * wCJK},
		{"kana and Hangul", "かカ한", 3 * wCJK},
		{"CJK punctuation", "，。", 2 * wCJKPunct},
		{"accented Latin is part of its word", "café", wWord},
		{"other alphabets", "поезд", 5 * wAlphabet},
		{"symbols, emoji, control characters", "│✓🎉\x1b", 4 * wOther},
		{"invalid UTF-8", "\xff\xfe", 2 * wOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := milli(tt.text); got != tt.want {
				t.Errorf("milli(%q) = %d, want %d", tt.text, got, tt.want)
			}
			if got, want := Estimate(tt.text), int((tt.want+999)/1000); got != want {
				t.Errorf("Estimate(%q) = %d, want %d: rounded up", tt.text, got, want)
			}
		})
	}
}

func TestOnlyEmptyTextIsZero(t *testing.T) {
	t.Parallel()
	if got := Estimate(""); got != 0 {
		t.Errorf(`Estimate("") = %d, want 0`, got)
	}
	testkit.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes")
		if got := Estimate(string(b)); got < 1 {
			t.Fatalf("Estimate(%q) = %d, want at least 1", b, got)
		}
	})
	if got := Estimate(" "); got != 1 {
		t.Errorf(`Estimate(" ") = %d, want 1`, got)
	}
}

func TestJoiningTextsCostsNoMoreThanTheParts(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		a := rapid.String().Draw(t, "a")
		b := rapid.String().Draw(t, "b")
		joined := Estimate(a + b)
		if joined > Estimate(a)+Estimate(b) {
			t.Fatalf("Estimate(%q+%q) = %d, above %d + %d", a, b, joined, Estimate(a), Estimate(b))
		}
		if joined < Estimate(a) {
			t.Fatalf("Estimate(%q) = %d falls to %d with %q appended", a, Estimate(a), joined, b)
		}
	})
}

func TestCuttingBetweenRunesKeepsTheSum(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		cut := rapid.IntRange(0, len(s)).Draw(t, "cut")
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		var c counter
		c.write(s[:cut])
		c.write(s[cut:])
		if c.milli != milli(s) {
			t.Fatalf("%q cut at %d costs %d, whole %d", s, cut, c.milli, milli(s))
		}
	})
}

func TestEstimateDoesNotAllocate(t *testing.T) {
	// testing.AllocsPerRun does not allow parallel tests.
	text := strings.Repeat("Mixed text, 12 words; 日本語 and \xff\n", 100)
	if n := testing.AllocsPerRun(10, func() { Estimate(text) }); n != 0 {
		t.Errorf("Estimate allocates %v times, want 0", n)
	}
}

func FuzzEstimate(f *testing.F) {
	f.Add("plain text", "more")
	f.Add("\xe4\xbd", "\xa0")
	f.Add("🎉\u200d", "\x00\x1b[0m")
	f.Fuzz(func(t *testing.T, a, b string) {
		n := Estimate(a)
		if (n == 0) != (a == "") || n < 0 {
			t.Errorf("Estimate(%q) = %d", a, n)
		}
		// Two tokens per byte is more than every weight.
		if n > 2*len(a) {
			t.Errorf("Estimate(%q) = %d, above 2 for each of %d bytes", a, n, len(a))
		}
		// One more for rounding: blanks that meet become a run, which costs a little.
		if got := Estimate(a + b); got > n+Estimate(b)+1 {
			t.Errorf("Estimate(%q+%q) = %d, above %d + %d + 1", a, b, got, n, Estimate(b))
		}
	})
}
