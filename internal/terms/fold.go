package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// special are letters that Unicode does not take apart, and the two forms of a Greek letter.
var special = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ħ': "h", 'ς': "σ"}

// The accents of Latin, Greek and Cyrillic letters. Other marks are part of a word: without its vowel signs,
// a Hindi word is another one.
const firstAccent, lastAccent = '\u0300', '\u036F'

// fold returns a run in lower case, without accents and compatibility forms.
func fold(run string) string {
	if isASCII(run) {
		return strings.ToLower(run)
	}
	var b strings.Builder
	b.Grow(len(run))
	for _, r := range norm.NFKD.String(run) {
		switch {
		case r < utf8.RuneSelf && kindOf(r) != separator:
			b.WriteRune(unicode.ToLower(r))
		case r >= firstAccent && r <= lastAccent, !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			// an accent, or a sign that a compatibility form has
		default:
			r = unicode.ToLower(r)
			if plain, found := special[r]; found {
				b.WriteString(plain)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return norm.NFC.String(b.String()) // the syllables of Hangul and the voiced kana are one character again
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
