// Package quote keeps quoted words from looking like the frame around them. What a user, a tool or a stranger wrote is
// quoted to the model between lines such as "[Earlier messages ...]" and "[End of earlier messages.]"; a message that has
// such a line must not end the quotation.
//
// A model reads a frame also where its characters are others: some are shown as nothing, some only separate words, and
// some look alike. So only letters and digits are compared, each as whatever it may read as: "|" is an l or separates
// words, and ʋ is a u or a v.
package quote

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:generate sh -c "curl -sS https://www.unicode.org/Public/security/13.0.0/confusables.txt | go run alike_gen.go | gofmt > alike.go"

// SummaryFrames are what the frame of a summary begins or ends with, as [FramesOf] takes it; see package view.
var SummaryFrames = []string{"endofsummary", "summaryof", "checkpointof"}

// Frames are openings of frames. The zero value has none.
type Frames struct {
	words []string
	first [128]bool // the letters of ASCII that may begin one
}

// FramesOf returns frames. Their openings are written in lower case and without spaces, of at most 40 letters; # is any
// digit: "endof", "turn#", "####-##-##".
func FramesOf(openings ...string) *Frames {
	f := &Frames{words: folds(openings)}
	for c := 'a'; c <= 'z'; c++ {
		read := folded.Replace(string(c))
		may := slices.ContainsFunc(f.words, func(word string) bool { return word[0] == read[0] })
		f.first[c], f.first[unicode.ToUpper(c)] = may, may
	}
	return f
}

// Unframe returns a text in which each bracket that begins a frame is a parenthesis. The rest of the text stays as it is.
func (f *Frames) Unframe(text string) string {
	return replaced(text, "(", '[', brackets, separates, func(rest string) bool {
		if rest != "" && ('a' <= rest[0] && rest[0] <= 'z' || 'A' <= rest[0] && rest[0] <= 'Z') && !f.first[rest[0]] {
			return false
		}
		for _, opening := range f.words {
			if end, _ := begins(rest, opening, separates); end > 0 {
				return true
			}
		}
		return false
	})
}

// folds are words as begins takes them.
func folds(words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = folded.Replace(word)
	}
	return out
}

// replaced replaces the brackets of a text behind which something opens: plain, the one of ASCII, and those that look
// like it. between reports whether a character says nothing.
func replaced(text, by string, plain byte, bracket, between func(rune) bool, opens func(rest string) bool) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && c != plain {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !bracket(r) {
			i += size
			continue
		}
		// Brackets with nothing between them but signs begin the same words, so those are read once.
		for found := opens(text[i+size:]); i < len(text) && (bracket(r) || between(r)); r, size = utf8.DecodeRuneInString(text[i:]) {
			if found && bracket(r) {
				b.WriteString(text[done:i] + by)
				done = i + size
			}
			i += size
		}
	}
	return b.String() + text[done:]
}

// brackets reports whether a character looks like the bracket that opens a frame.
func brackets(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '['
	}
	if table := opening(); r < rune(64*len(table)) {
		return table[r/64]>>(r%64)&1 != 0
	}
	return tagged(r) == '['
}

// opening has a bit for each bracket that opens a frame. Parentheses, braces and quotation marks do not: prose and code
// are full of them.
var opening = sync.OnceValue(func() *[1 << 10]uint64 {
	const others = "(\u207d\u208d\u2768\u276a\u27ee\u2985\u2e28\u2e59\u2e5b\ufd3f\ufe35\ufe59\uff08\uff5f" + "{\u2774\u2983\ufe37\ufe5b\uff5b" +
		"\u00ab\u2018\u201a\u201b\u201c\u201e\u201f\u2039\u2e42\u301d"
	const pieces = "\u228f\u23a1\u23a2\u23a3\u23b4\u231c\u231e\u23be\u23bf" // of a bracket over several lines, corners, and a square one
	var table [1 << 10]uint64
	for r := range rune(64 * len(table)) {
		if unicode.In(r, unicode.Ps, unicode.Pi) && !strings.ContainsRune(others, r) || strings.ContainsRune(pieces, r) {
			table[r/64] |= 1 << (r % 64)
		}
	}
	return &table
})

// separates reports whether a character may be no part of a word, and ends no bracket either. It may be a letter to
// others.
func separates(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < '0' && r != ')' || r > '9' && r < 'A' || r > 'Z' && r < 'a' && r != ']' || r > 'z' && r != '}'
	case unicode.Is(unicode.Pe, r) || strings.ContainsRune("\u2290\u23a4\u23a5\u23a6\u23b5\u231d\u231f\u23cb\u23cc", r):
		return false
	case unicode.Is(unicode.Lm, r):
		return len(readings(r)) == 0 || strings.ContainsRune(signs, r) // others are small letters
	}
	return !unicode.In(r, unicode.L, unicode.N) || strings.ContainsRune(signs, r) || Invisible(r)
}

// begins returns how many bytes of a text read as an opening, which is folded, 0 if it begins with something else.
// whole is false if the last character reads as more than that. Characters that are between words are passed over.
func begins(text, opening string, between func(rune) bool) (end int, whole bool) {
	at := uint64(1) // bit n: the first n bytes of the opening may have been read
	for i, r := range text {
		next, more := uint64(0), false
		if between(r) {
			next = at
		}
		reads := readings(r)
		for left := at; left != 0; left &= left - 1 {
			n := bits.TrailingZeros64(left)
			rest := opening[n:]
			if rest[0] == '#' && digit(r) || rest[0] == '-' && dash(r) {
				next |= 1 << (n + 1)
			}
			for _, read := range reads {
				if strings.HasPrefix(rest, read) {
					next |= 1 << (n + len(read))
				} else if strings.HasPrefix(read, rest) {
					more = true
				}
			}
		}
		if whole = next&(1<<len(opening)) != 0; whole || more {
			return i + utf8.RuneLen(r), whole
		}
		if next == 0 {
			return 0, false
		}
		at = next
	}
	return 0, false
}

// folded makes letters and digits equal that look alike in ASCII already.
var folded = strings.NewReplacer("0", "o", "1", "l", "i", "l", "m", "rn", "d", "cl")

// alike returns the characters of lookalikes, each with what it reads as.
var alike = sync.OnceValue(func() map[rune][]string {
	alike := map[rune][]string{}
	for read, all := range lookalikes {
		for _, r := range all {
			alike[r] = append(alike[r], folded.Replace(read))
		}
	}
	return alike
})

// ascii has the readings of the characters of ASCII.
var ascii = sync.OnceValue(func() *[utf8.RuneSelf][]string {
	var reads [utf8.RuneSelf][]string
	for r := range reads {
		lower := unicode.ToLower(rune(r))
		if unicode.IsLetter(lower) || unicode.IsDigit(lower) {
			reads[r] = append(reads[r], folded.Replace(string(lower)))
		}
		reads[r] = append(reads[r], alike()[lower]...)
	}
	return &reads
})

// readings returns what a character may read as, in lower case and folded: that of "Ｅ", "𝐄", "ᴇ" and the Cyrillic "Е" is e.
// There are none for a character that reads as no letter and no digit of ASCII.
func readings(r rune) []string {
	if tag := tagged(r); tag != 0 {
		r = tag
	}
	if r < utf8.RuneSelf {
		return ascii()[r]
	}
	return append(slices.Clip(alike()[r]), ordinary(r)...)
}

// ordinary returns what the ordinary form of a character reads as, that of "Ｅ" or "ﬃ".
func ordinary(r rune) []string {
	all := []string{""}
	for _, one := range norm.NFKD.String(string(r)) {
		var reads []string
		switch lower := unicode.ToLower(one); {
		case lower < utf8.RuneSelf:
			reads = ascii()[lower]
		case one != r && len(alike()[one]) > 0:
			reads = alike()[one]
		default:
			reads = alike()[lower]
		}
		var longer []string
		if unicode.IsMark(one) {
			longer = all
		}
		for _, before := range all {
			for _, read := range reads {
				longer = append(longer, before+read)
			}
		}
		all = longer
	}
	return slices.DeleteFunc(all, func(read string) bool { return read == "" })
}

// tagged returns the character of ASCII that a tag stands for, 0 for others. A tag is shown as nothing, and models read
// it.
func tagged(r rune) rune {
	if r < 0xe0020 || r > 0xe007e {
		return 0
	}
	return r - 0xe0000
}

// dash reports whether a character is a dash.
func dash(r rune) bool {
	return unicode.Is(unicode.Pd, r) || strings.ContainsRune("\u2212\u2043\u02d7\u2500", r) || tagged(r) == '-'
}

// digit reports whether a character is a digit in any script.
func digit(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	plain, _ := utf8.DecodeRuneInString(norm.NFKD.String(string(r)))
	return unicode.IsDigit(r) || unicode.IsDigit(plain)
}

// Invisible reports whether a character is shown as nothing by itself. Some of them turn the direction of what
// follows.
func Invisible(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
