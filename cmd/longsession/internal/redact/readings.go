package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxDecoded is the number of layers of URL encoding, escapes and entities that are decoded.
const maxDecoded = 4

// reading is one way to read a text. For example, "a%41" reads as "aA", whose byte 1 comes from the
// offset 1 of the text, and whose end comes from its end, 4.
type reading struct {
	text string
	// from has, for each byte of text and for its end, the offset in the stored text that it comes
	// from. It is nil for the stored text itself.
	from []int
}

// steps are the ways to read a text, each with the characters that it can change.
var steps = []struct {
	changes func(rune) bool
	read    func(text string, emit func(piece string, at int))
}{
	{func(char rune) bool { return char >= utf8.RuneSelf || invisible(char) }, visible},
	{func(char rune) bool { return char >= utf8.RuneSelf }, normal},
	{func(char rune) bool { return char == '%' || char == '\\' || char == '&' }, decoded},
}

// origin returns the span of the stored text that a span of the reading comes from.
func (as reading) origin(span []int) []int {
	if as.from == nil {
		return span[:2]
	}
	from, to := as.from[span[0]], span[1]
	for to < len(as.text) && as.from[to] == as.from[span[1]-1] { // one character can become several
		to++
	}
	return []int{from, as.from[to]}
}

// readings returns a text as it is written and in every other way.
func readings(text string) []reading {
	current := reading{text: text}
	all := []reading{current}
	for range maxDecoded {
		before := len(all)
		for _, step := range steps {
			if strings.IndexFunc(current.text, step.changes) < 0 {
				continue
			}
			if next := current.read(step.read); next.text != current.text {
				all, current = append(all, next), next
			}
		}
		if len(all) == before {
			break
		}
	}
	// In a query a plus is a blank; in a phone number it is a plus.
	if strings.ContainsRune(current.text, '+') {
		all = append(all, current.read(blanks))
	}
	return all
}

// read applies a step, which emits the pieces of its result with their offsets in the text.
func (as reading) read(step func(text string, emit func(piece string, at int))) reading {
	var out strings.Builder
	from := make([]int, 0, len(as.text)+1)
	at := func(i int) int {
		if as.from == nil {
			return i
		}
		return as.from[i]
	}
	step(as.text, func(piece string, i int) {
		out.WriteString(piece)
		for range len(piece) {
			from = append(from, at(i))
		}
	})
	return reading{out.String(), append(from, at(len(as.text)))}
}

// visible drops invisible characters and writes dashes, blanks and digits of all scripts as ASCII.
func visible(text string, emit func(string, int)) {
	for i := 0; i < len(text); {
		char, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case invisible(char):
		case char < utf8.RuneSelf || char == utf8.RuneError:
			emit(text[i:i+size], i)
		case unicode.Is(unicode.Pd, char), char == '\u2212':
			emit("-", i)
		case unicode.Is(unicode.Zs, char):
			emit(" ", i)
		case unicode.IsDigit(char):
			emit(digit(char), i)
		default:
			emit(text[i:i+size], i)
		}
		i += size
	}
}

// invisible reports whether a character takes up no room: joiners, marks of direction, soft
// hyphens, control characters, fillers and variation selectors.
func invisible(char rune) bool {
	switch {
	case char == '\n', char == '\t', char == '\r':
		return false
	case char < utf8.RuneSelf:
		return char < ' ' || char == 0x7f
	}
	return unicode.In(char, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || char == '\u2800'
}

// digit writes a decimal digit of any script as ASCII. Unicode has digits in runs of ten that begin
// with zero; runs may follow one another.
func digit(char rune) string {
	zero := char
	for unicode.IsDigit(zero - 1) {
		zero--
	}
	return string('0' + (char-zero)%10)
}

// normal writes characters in their ordinary form: full-width and mathematical letters as plain
// ones, and accents together with their letters.
func normal(text string, emit func(string, int)) {
	var it norm.Iter
	for it.InitString(norm.NFKC, text); !it.Done(); {
		at := it.Pos()
		emit(string(it.Next()), at)
	}
}

// decoded decodes one layer of URL encoding, of the escapes of JSON and programs, and of entities.
func decoded(text string, emit func(string, int)) {
	for i := 0; i < len(text); {
		out, size := text[i:i+1], 1
		switch text[i] {
		case '%':
			if i+3 <= len(text) {
				if b, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
					out, size = string([]byte{byte(b)}), 3
				}
			}
		case '\\':
			out, size = unescaped(text[i:])
		case '&':
			if end := strings.IndexByte(text[i:min(len(text), i+12)], ';'); end > 1 {
				if meant := html.UnescapeString(text[i : i+end+1]); meant != text[i:i+end+1] {
					out, size = meant, end+1
				}
			}
		}
		emit(out, i)
		i += size
	}
}

// unescaped decodes an escape at the beginning of a text, and returns its length.
func unescaped(text string) (string, int) {
	if len(text) > 1 && text[1] == '/' {
		return "/", 2
	}
	if len(text) > 11 && text[1] == 'u' && text[6] == '\\' && text[7] == 'u' {
		high, _ := strconv.ParseUint(text[2:6], 16, 32)
		low, _ := strconv.ParseUint(text[8:12], 16, 32)
		if char := utf16.DecodeRune(rune(high), rune(low)); char != utf8.RuneError {
			return string(char), 12
		}
	}
	for _, quote := range []byte{'"', '\''} {
		if char, multibyte, rest, err := strconv.UnquoteChar(text, quote); err == nil {
			if size := len(text) - len(rest); char < utf8.RuneSelf || multibyte {
				return string(char), size
			} else {
				return string([]byte{byte(char)}), size
			}
		}
	}
	return text[:1], 1
}

// blanks reads a plus as a blank.
func blanks(text string, emit func(string, int)) {
	for i := range len(text) {
		if text[i] == '+' {
			emit(" ", i)
		} else {
			emit(text[i:i+1], i)
		}
	}
}
