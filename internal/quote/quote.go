// Package quote keeps quoted words from looking like the frame around them. What a user, a tool or a stranger wrote is
// quoted to the model between lines such as "[Earlier messages ...]" and "[End of earlier messages.]"; a message that has
// such a line must not end the quotation.
//
// A model reads a frame also where its characters are others: some are shown as nothing, and some look alike. So
// texts are compared without the first, and with the ordinary form of the second.
package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// brackets are those that look like the one that opens a frame.
const brackets = "[［【〔〖〘〚⟦⟬❲﹝﹇⁅"

// Unframe returns a text in which each bracket that begins one of these openings is a parenthesis. Openings are
// written in lower case and without spaces; # is any digit: "endof", "turn#". The rest of the text stays as it is.
func Unframe(text string, openings ...string) string {
	if !strings.ContainsAny(text, brackets) {
		return text
	}
	var b strings.Builder
	done := 0
	for i, r := range text {
		if strings.ContainsRune(brackets, r) && opens(text[i+utf8.RuneLen(r):], openings) {
			b.WriteString(text[done:i] + "(")
			done = i + utf8.RuneLen(r)
		}
	}
	return b.String() + text[done:]
}

// opens reports whether a text begins with one of the openings.
func opens(text string, openings []string) bool {
	var read []rune
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) || Invisible(r) {
			continue
		}
		read = append(read, plain(r)...)
		going := false
		for _, opening := range openings {
			switch n := common(read, opening); {
			case n == len(opening):
				return true
			case n == len(read):
				going = true
			}
		}
		if !going {
			return false
		}
	}
	return false
}

// common returns how many characters of an opening, which are ASCII, begin what was read.
func common(read []rune, opening string) int {
	for i := range len(opening) {
		if i == len(read) || read[i] != rune(opening[i]) && !(opening[i] == '#' && unicode.IsDigit(read[i])) {
			return i
		}
	}
	return len(opening)
}

// alike are letters of other scripts that look like one of an opening.
var alike = map[rune]rune{'а': 'a', 'е': 'e', 'о': 'o', 'с': 'c', 'р': 'p', 'у': 'y', 'і': 'i', 'ѕ': 's', 'һ': 'h', 'ԁ': 'd', 'м': 'm', 'т': 't', 'п': 'n', 'к': 'k', 'ο': 'o', 'α': 'a', 'ε': 'e', 'υ': 'u', 'ν': 'v', 'ρ': 'p', 'τ': 't', '‐': '-', '‑': '-', '–': '-', '—': '-', '−': '-'}

// plain returns the ordinary form of a character, in lower case: that of "Ｅ", "𝐄" and the Cyrillic "Е" is e.
func plain(r rune) []rune {
	if r < utf8.RuneSelf {
		return []rune{unicode.ToLower(r)}
	}
	var out []rune
	for _, one := range norm.NFKD.String(string(r)) {
		one = unicode.ToLower(one)
		if same, found := alike[one]; found {
			one = same
		}
		if !unicode.IsMark(one) {
			out = append(out, one)
		}
	}
	return out
}

// Invisible reports whether a character is shown as nothing by itself. Some of them turn the direction of what
// follows.
func Invisible(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
