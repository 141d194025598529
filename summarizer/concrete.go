package summarizer

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxValues is the largest number of values that one sentence gets credit for.
const maxValues = 32

// concreteValues finds the values that a summary must not lose: numbers, dates, IDs, URLs, paths,
// names and quoted strings. It returns one hash for each distinct value, so that callers recognize
// a second mention without keeping the text.
//
// It scans words and knows no grammar. A word counts if it has a digit, or looks like an address or
// an identifier, or like a name if it is not the first word. In scripts without capitals,
// quotations, numerals with a unit, katakana words, and the words after "is called" count.
//
//	"Please book LH 441 for Ada."    LH, 441, Ada
//	"Berlin is cold."                nothing: Berlin is the first word
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

// trimmed is the punctuation around a word that is not part of it.
const trimmed = `.,;:!?()[]{}<>"'*…`

// firstIdeograph is where Han begins, the first script that wordRune leaves out.
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

// closerOf returns the mark that ends a quotation begun by r, or 0.
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

// quoted splits s at the closing mark, if it is near and the quotation is not empty.
func quoted(s string, closer rune) (inner, rest string, ok bool) {
	const near = 160 // bytes
	end := strings.IndexRune(s[:min(len(s), near)], closer)
	if end < 0 || blank(s[:end]) {
		return "", s, false
	}
	return s[:end], s[end+utf8.RuneLen(closer):], true
}

// isConcrete judges one word. first means that it opens the sentence, so that a capital means nothing.
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

// hanValues finds values in a run of Han characters, which has no separators between words.
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
