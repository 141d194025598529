package summarizer

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxValues limits the credit of one sentence.
const maxValues = 32

// concreteValues finds the values that a summary must keep: numbers, dates, IDs, URLs, paths, names
// and quoted strings. It returns one hash per distinct value, so that callers can recognize a
// second mention without storing the text.
//
// It scans words without parsing any grammar. A word is concrete if it has a digit, if it looks
// like an address or an identifier, or if it looks like a name and is not the first word. In
// scripts without capitals it takes quotations, numerals with a unit, katakana words, and the words
// after "is called".
//
//	"Please book LH 441 for Ada."    LH, 441, Ada
//	"Berlin is cold."                none: Berlin is the first word
func concreteValues(s string) []uint64 {
	var values []uint64
	add := func(v string) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(strings.ToLower(v))) // a hash never fails to write
		sum := h.Sum64()
		for _, seen := range values {
			if seen == sum {
				return
			}
		}
		values = append(values, sum)
	}
	first := true
	for len(s) > 0 && len(values) < maxValues {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case unicode.IsSpace(r):
			s = s[size:]
		case closerOf(r) != 0:
			inner, rest, ok := quoted(s[size:], closerOf(r))
			if ok {
				add(inner)
			}
			s = rest
		case wordRune(r):
			word := s[:wordEnd(s)]
			s = s[len(word):]
			if isConcrete(word, first) {
				add(strings.Trim(word, trimmed))
			}
			first = false
		case unicode.Is(unicode.Katakana, r):
			word := s[:runEnd(s, isKatakana)]
			s = s[len(word):]
			if len(word) > size {
				add(word)
			}
		case unicode.Is(unicode.Han, r):
			run := s[:runEnd(s, isHan)]
			s = s[len(run):]
			for _, v := range hanValues(run) {
				add(v)
			}
		default:
			s = s[size:]
		}
	}
	return values
}

// trimmed is the punctuation that concreteValues strips from a word.
const trimmed = `.,;:!?()[]{}<>"'*…`

// firstIdeograph is the first code point of the CJK blocks. Every rune below it may belong to a
// word.
const firstIdeograph = '\u2e80'

// wordRune reports whether r belongs to a word of a script that puts spaces between words.
func wordRune(r rune) bool {
	return r > ' ' && !unicode.IsSpace(r) && closerOf(r) == 0 &&
		(r < firstIdeograph || !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && !(r >= 0x3000 && r <= 0x30ff) &&
			!(r >= 0xff00 && r <= 0xff0f))
}

func wordEnd(s string) int { return runEnd(s, wordRune) }

func runEnd(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

func isKatakana(r rune) bool { return unicode.Is(unicode.Katakana, r) || r == 'ー' || r == '・' }

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// closerOf returns the mark that closes a quotation opened by r, or 0 if r opens none.
func closerOf(r rune) rune {
	switch r {
	case '"', '`':
		return r
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '「':
		return '」'
	case '『':
		return '』'
	case '《':
		return '》'
	default:
		return 0
	}
}

// quoted splits s at the closing mark. It fails if the mark is more than 160 bytes away or the
// quotation is empty.
func quoted(s string, closer rune) (inner, rest string, ok bool) {
	const near = 160 // bytes
	end := strings.IndexRune(s[:min(len(s), near)], closer)
	if end < 0 || blank(s[:end]) {
		return "", s, false
	}
	return s[:end], s[end+utf8.RuneLen(closer):], true
}

// isConcrete reports whether a word is a concrete value. first is true for the first word of a
// sentence, whose capital proves nothing: "LH441" and "Ada" count, but a first "Ada" does not.
func isConcrete(word string, first bool) bool {
	word = strings.Trim(word, trimmed)
	if word == "" {
		return false
	}
	upper, lower, letters := 0, 0, 0
	prev := rune(0)
	for i, r := range word {
		switch {
		case unicode.IsDigit(r):
			return true
		case unicode.IsUpper(r):
			upper++
			if unicode.IsLower(prev) {
				return true // camelCase
			}
		case unicode.IsLower(r):
			lower++
		case r == '_', r == '@', r == '/', r == '\\', r == ':', r == '.':
			if i > 0 && letters > 0 && i < len(word)-1 || r == '/' && len(word) > 2 {
				return true // path, address, file name, identifier
			}
		}
		if unicode.IsLetter(r) {
			letters++
		}
		prev = r
	}
	if upper == 0 || letters < 2 || strings.HasPrefix(word, "I'") || strings.HasPrefix(word, "I’") {
		return false
	}
	return !first || lower == 0
}

// hanValues finds values in a run of Han characters, which has no spaces between words: names after
// "is called" (我叫张曼婷 has 张曼婷) and numerals with a unit (六月三日 has 六月 and 三日).
func hanValues(run string) []string {
	var out []string
	for _, mark := range []string{"叫做", "叫", "名字是", "姓"} {
		if _, after, ok := strings.Cut(run, mark); ok && after != "" {
			out = append(out, after[:runeOffset(after, 4)])
			break
		}
	}
	start := -1
	for i, r := range run {
		switch {
		case strings.ContainsRune("〇零一二三四五六七八九十百千万亿億萬两兩", r):
			if start < 0 {
				start = i
			}
		case start >= 0:
			if strings.ContainsRune("年月日号號点點元円岁歲時时分", r) {
				out = append(out, run[start:i+utf8.RuneLen(r)])
			}
			start = -1
		}
	}
	return out
}
