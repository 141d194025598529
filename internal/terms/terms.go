package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBytes is the most bytes that a term has. Longer words are cut.
const maxBytes = 64

// Terms returns the terms of a text in their order, with repetitions. Bytes that are no UTF-8 separate
// words. It takes time in proportion to the text, also for one word of a megabyte. No term keeps the text
// in memory.
func Terms(text string) []string { return Append(nil, text) }

// Append appends the terms of a text to dst.
func Append(dst []string, text string) []string {
	eachRun(text, func(run string, kind kind) {
		if kind == pairs {
			if run = fold(run); run != "" {
				dst = appendPairs(dst, run)
			}
			return
		}
		eachWord(run, func(word string) {
			if word = cut(fold(word)); word != "" && !stopWords[word] {
				dst = append(dst, stem(word))
			}
		})
	})
	return dst
}

// Words returns the words of a text or the parts of a name: folded and split as by [Terms], with neither
// stems nor stop words, and without names in camel case as a whole. A run of Chinese is one word. Two names
// with the same words are spelled alike but for separators, case and accents.
func Words(text string) []string {
	var out []string
	eachRun(text, func(run string, kind kind) {
		if kind == pairs || unsplit[strings.ToLower(cut(run))] {
			out = appendWord(out, run)
			return
		}
		eachHump(run, func(hump string) { out = appendWord(out, hump) })
	})
	return out
}

func appendWord(dst []string, word string) []string {
	if word = cut(fold(word)); word != "" {
		dst = append(dst, strings.Clone(word))
	}
	return dst
}

// kind is how the characters of a run become terms.
type kind int

const (
	separator kind = iota
	words
	pairs
)

// unspaced are the scripts that are cut into pairs.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// kindOf returns what a character is part of.
func kindOf(r rune) kind {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return words
		}
		return separator
	}
	switch {
	case r == utf8.RuneError:
		return separator
	case r < 0x0E00: // the first of the scripts above is Thai, but for Hangul's old letters
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return words
		}
		return separator
	case r == 'ー', r == 'ｰ', r == 'ﾞ', r == 'ﾟ': // Japanese, though Unicode says common
		return pairs
	case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
		return separator
	case unicode.IsDigit(r):
		return words
	case unicode.In(r, unspaced...):
		return pairs
	}
	return words
}

// eachRun calls f with each longest run of characters of one kind, separators left out. A mark belongs to
// the run that it follows.
func eachRun(text string, f func(run string, kind kind)) {
	begin, current := 0, separator
	for i, r := range text {
		k := kindOf(r)
		if k == current || k != separator && current != separator && unicode.IsMark(r) {
			continue
		}
		if current != separator {
			f(text[begin:i], current)
		}
		begin, current = i, k
	}
	if current != separator {
		f(text[begin:], current)
	}
}

// eachWord calls f with a word, and with its parts if it is in camel case. The plural of an abbreviation, such
// as URLs, is that abbreviation.
func eachWord(run string, f func(word string)) {
	if short, found := strings.CutSuffix(run, "s"); found && len(short) > 1 && strings.ToUpper(short) == short && strings.ToLower(short) != short {
		f(short)
		return
	}
	f(run)
	if humpEnd(run) < len(run) && !unsplit[strings.ToLower(cut(run))] {
		eachHump(run, f)
	}
}

// eachHump calls f with the parts of a name in camel case.
func eachHump(name string, f func(hump string)) {
	for name != "" {
		end := humpEnd(name)
		f(name[:end])
		name = name[end:]
	}
}

// humpEnd returns where the first part of a name in camel case ends: before a capital that follows a small
// letter, and before the last of several capitals or digits if a small letter follows it. Capitals and digits
// alone, such as 4K, are one part.
func humpEnd(name string) int {
	var before, last rune
	lastAt := 0
	for i, r := range name {
		switch {
		case i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(last) && !unicode.IsDigit(last):
			return i
		case lastAt > 0 && unicode.IsLower(r) && unicode.IsUpper(last) && (unicode.IsUpper(before) || unicode.IsDigit(before)):
			return lastAt
		}
		before, last, lastAt = last, r, i
	}
	return len(name)
}

// unsplit are names of products in camel case that people write and search as one word.
var unsplit = set("bitbucket cloudfront cloudwatch deepmind devops dynamodb ebay facebook github gitlab graphql icloud ios ipad ipados iphone " +
	"javascript jetbrains latex linkedin macbook macos mariadb mongodb mysql nodejs nosql onedrive openai openapi paypal postgresql " +
	"powerpoint powershell rabbitmq sharepoint sqlite swiftui tiktok typescript vscode watchos webrtc whatsapp wordpress youtube")

// appendPairs appends the pairs of adjacent characters of a run, or its only character. A mark, such as a
// vowel sign, belongs to the character before it.
func appendPairs(dst []string, run string) []string {
	var begins []int
	for i, r := range run {
		if i == 0 || !unicode.IsMark(r) {
			begins = append(begins, i)
		}
	}
	begins = append(begins, len(run))
	if len(begins) == 2 {
		return append(dst, strings.Clone(cut(run)))
	}
	for i := range len(begins) - 2 {
		dst = append(dst, strings.Clone(cut(run[begins[i]:begins[i+2]])))
	}
	return dst
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// cut returns the longest beginning of a word, in whole characters, that has at most maxBytes.
func cut(word string) string {
	if len(word) <= maxBytes {
		return word
	}
	end := maxBytes
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}
