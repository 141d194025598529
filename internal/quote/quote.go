// Package quote keeps quoted words from looking like the frame around them. What a user, a tool or a stranger wrote is
// quoted to the model between lines such as "[Earlier messages ...]" and "[End of earlier messages.]"; a message that has
// such a line must not end the quotation.
//
// A model reads a frame also where its characters are others: some are shown as nothing, some only separate words, and
// some look alike. So only letters and digits are compared, each as what it reads as.
package quote

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:generate sh -c "curl -sS https://www.unicode.org/Public/security/13.0.0/confusables.txt | go run alike_gen.go | gofmt > alike.go"

// SummaryFrames are what the frame of a summary begins or ends with, as [Unframe] takes it; see package view.
var SummaryFrames = []string{"endofsummary", "summaryof", "checkpointof"}

// Unframe returns a text in which each bracket that begins one of these openings is a parenthesis. Openings are
// written in lower case and without spaces; # is any digit: "endof", "turn#", "####-##-##". The rest of the text stays
// as it is.
func Unframe(text string, openings ...string) string {
	first := strings.IndexFunc(text, brackets)
	if first < 0 {
		return text
	}
	words := make([]string, len(openings))
	for i, opening := range openings {
		words[i] = folded.Replace(opening)
	}
	var b strings.Builder
	done := 0
	var open []int // brackets without anything to read behind them yet; they begin the same words
	for i, r := range text[first:] {
		i += first
		switch {
		case brackets(r):
			open = append(open, i)
			continue
		case len(open) == 0 || separates(r):
			continue
		}
		if opens(text[i:], words) {
			for _, at := range open {
				_, size := utf8.DecodeRuneInString(text[at:])
				b.WriteString(text[done:at] + "(")
				done = at + size
			}
		}
		open = open[:0]
	}
	return b.String() + text[done:]
}

// brackets reports whether a character looks like the bracket that opens a frame. Parentheses, braces and quotation
// marks do not: prose and code are full of them.
func brackets(r rune) bool {
	const others = "(\u207d\u208d\u2768\u276a\u27ee\u2985\u2e28\u2e59\u2e5b\ufd3f\ufe35\ufe59\uff08\uff5f" + "{\u2774\u2983\ufe37\ufe5b\uff5b" + "\u201a\u201e\u2e42\u301d"
	const pieces = "\u23a1\u23a2\u23a3\u231c\u231e\u23be\u23bf" // of a bracket over several lines, and corners
	if r < utf8.RuneSelf {
		return r == '['
	}
	return unicode.Is(unicode.Ps, r) && !strings.ContainsRune(others, r) || strings.ContainsRune(pieces, r)
}

// separates reports whether a character is no part of a word, and ends no bracket either.
func separates(r rune) bool {
	switch {
	case unicode.Is(unicode.Pe, r) || strings.ContainsRune("\u23a4\u23a5\u23a6\u231d\u231f\u23cb\u23cc", r) || r == utf8.RuneError:
		return false
	case unicode.Is(unicode.So, r):
		return letters(r) == "" // others are letters in boxes and circles
	}
	return unicode.In(r, unicode.P, unicode.S, unicode.M, unicode.Z) || unicode.IsControl(r) || unicode.IsSpace(r) || Invisible(r)
}

// opens reports whether a text begins with one of the openings, which are folded.
func opens(text string, openings []string) bool {
	for _, opening := range openings {
		if begins(text, opening) {
			return true
		}
	}
	return false
}

func begins(text, opening string) bool {
	for _, r := range text {
		switch {
		case opening[0] == '-' && (unicode.Is(unicode.Pd, r) || strings.ContainsRune("\u2212\u2043\u02d7\u2500", r)):
			opening = opening[1:]
		case separates(r):
			continue
		case opening[0] == '#' && digit(r):
			opening = opening[1:]
		default:
			read := letters(r)
			rest, found := strings.CutPrefix(opening, read)
			if read == "" || !found && !strings.HasPrefix(read, opening) {
				return false
			}
			opening = rest
			if !found {
				return true
			}
		}
		if opening == "" {
			return true
		}
	}
	return false
}

// folded makes letters and digits equal that look alike in ASCII already.
var folded = strings.NewReplacer("0", "o", "1", "l", "i", "l", "m", "rn")

// alike returns the characters of lookalikes, each with what it reads as.
var alike = sync.OnceValue(func() map[rune]string {
	alike := map[rune]string{}
	for read, all := range lookalikes {
		for _, r := range all {
			alike[r] = read
		}
	}
	return alike
})

// letters returns what a character reads as, in lower case and folded: that of "Ｅ", "𝐄", "ᴇ" and the Cyrillic "Е" is e.
// It is "" for a character that reads as no letter and no digit of ASCII.
func letters(r rune) string {
	if r < utf8.RuneSelf {
		if r = unicode.ToLower(r); r < '0' || r > '9' && r < 'a' || r > 'z' {
			return ""
		}
		return folded.Replace(string(r))
	}
	alike, read := alike(), ""
	if same, found := alike[r]; found {
		return folded.Replace(same)
	}
	for _, one := range norm.NFKD.String(string(r)) {
		lower := unicode.ToLower(one)
		switch same, found := alike[one]; {
		case found:
			read += folded.Replace(same)
		case alike[lower] != "":
			read += folded.Replace(alike[lower])
		case lower < utf8.RuneSelf:
			read += letters(lower)
		case !unicode.IsMark(one):
			return ""
		}
	}
	return read
}

// digit reports whether a character is a digit in any script.
func digit(r rune) bool {
	plain, _ := utf8.DecodeRuneInString(norm.NFKD.String(string(r)))
	return unicode.IsDigit(r) || unicode.IsDigit(plain)
}

// Invisible reports whether a character is shown as nothing by itself. Some of them turn the direction of what
// follows.
func Invisible(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
