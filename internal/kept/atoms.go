package kept

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atom is the smallest piece of a text that is compared: a run of letters and digits, a hump of a word in camel case, or one
// Chinese or Japanese character.
type atom struct {
	hash       uint64 // of the folded text
	begin, end int
	joined     uint64 // behind the last hump of a word: the hash of the whole word, else 0
}

const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

// mix adds a character to a hash (FNV-1a, by characters).
func mix(h uint64, r rune) uint64 { return (h ^ uint64(r)) * prime64 }

// pair is the hash of two atoms that stand next to each other.
func pair(a, b uint64) uint64 { return (a*prime64 ^ b) * prime64 }

func hashOf(text string) uint64 {
	h := uint64(offset64)
	for _, r := range text {
		h = mix(h, unicode.ToLower(r))
	}
	return h
}

// isHan reports whether words of a script are written without spaces.
func isHan(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// eachAtom calls f with the atoms of a text, in their order.
func eachAtom(text string, f func(a atom)) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\x1b': // a color of a terminal would be a part of the word behind it
			i += max(size, escapeLength(text[i:]))
		case !inWord(r):
			i += size
		case isHan(r):
			f(atom{hash: mix(offset64, r), begin: i, end: i + size})
			i += size
		default:
			i = eachHump(text, i, f)
		}
	}
}

// eachHump calls f with the humps of the word at i, and returns where it ends.
func eachHump(text string, i int, f func(a atom)) int {
	word, hump := uint64(offset64), uint64(offset64)
	begin, humps := i, 0
	var before rune
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inWord(r) || isHan(r) {
			break
		}
		if i > begin && unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && startsLower(text[i+size:])) {
			f(atom{hash: hump, begin: begin, end: i})
			begin, hump, humps = i, offset64, humps+1
		}
		lower := unicode.ToLower(r)
		word, hump = mix(word, lower), mix(hump, lower)
		before = r
		i += size
	}
	last := atom{hash: hump, begin: begin, end: i}
	if humps > 0 {
		last.joined = word
	}
	f(last)
	return i
}

func startsLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// escapeLength is the length of the escape sequence that begins a text, in bytes.
func escapeLength(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 1
	}
	for i := 2; i < len(text) && i < 32; i++ {
		if text[i] >= '@' && text[i] <= '~' {
			return i + 1
		}
	}
	return 2
}

// withoutEscapes returns a text without escape sequences, which are in no atom.
func withoutEscapes(text string) string {
	at := strings.IndexByte(text, '\x1b')
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(text, '\x1b') {
		b.WriteString(text[:at] + " ")
		text = text[at+escapeLength(text[at:]):]
	}
	return b.String() + text
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isHex(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && (s[i] < 'a' || s[i] > 'f') && (s[i] < 'A' || s[i] > 'F') {
			return false
		}
	}
	return s != ""
}

// atoi reads a number of at most 9 digits.
func atoi(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}
