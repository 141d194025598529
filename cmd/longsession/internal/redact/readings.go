package redact

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// step reads the pieces of a text that an expression matches in another way.
type step struct {
	piece *regexp.Regexp
	read  func(piece string) string
}

var (
	// plain reads dashes, blanks and digits of all scripts as ASCII, and drops invisible characters.
	plain = step{regexp.MustCompile(`[^\t\n\r -~]`), inASCII}
	// normal reads full-width and mathematical letters as plain ones, and accents together with
	// their letters.
	normal = step{regexp.MustCompile(`\P{M}?\p{M}+|[\x{1100}-\x{11ff}]+|[^\x00-\x7f]`), norm.NFKC.String}
	// decoded decodes one layer of URL encoding, of entities, and of the escapes of JSON and programs.
	decoded = step{regexp.MustCompile(`&#(?:\d{1,7}|[xX][[:xdigit:]]{1,6});|` + escapes +
		`|\\u(?:[0-9abcefABCEF][[:xdigit:]]|[dD][0-7])[[:xdigit:]]{2}`), decode}
	// loose also decodes entities without a semicolon, which browsers show, and half a character,
	// which is an unknown one. In a later layer the rest of either might have been there.
	loose = step{regexp.MustCompile(`&#(?:\d{1,7}|[xX][[:xdigit:]]{1,6});?|` + escapes + `|\\u[[:xdigit:]]{4}`), decode}
	// blanks reads a plus as a blank, as in a query. In a phone number it is a plus.
	blanks = step{regexp.MustCompile(`\+`), func(string) string { return " " }}
)

// escapes matches what decoded and loose decode alike.
const escapes = `%[[:xdigit:]]{2}|&\w{1,10};|` +
	`\\(?:u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|U[[:xdigit:]]{8}|x[[:xdigit:]]{2}|[0-7]{3}|[abfnrtv\\'"/])`

// readings returns a text as it is written and in every other way.
func readings(text string) []reading {
	all := []reading{{text: text}}
	for _, decoding := range []step{decoded, loose} {
		current := all[0]
		read := func(s step) bool {
			next := current.read(s)
			if next.text == current.text {
				return false
			}
			if current = next; !slices.ContainsFunc(all, func(one reading) bool { return one.text == next.text }) {
				all = append(all, next)
			}
			return true
		}
		for range maxDecoded {
			a, b, c := read(plain), read(normal), read(decoding)
			if !a && !b && !c {
				break
			}
		}
		read(blanks)
	}
	return all
}

// read applies a step.
func (as reading) read(s step) reading {
	found := s.piece.FindAllStringIndex(as.text, -1)
	if found == nil {
		return as
	}
	var out strings.Builder
	from, done := make([]int, 0, len(as.text)+1), 0
	copyTo := func(end int) {
		out.WriteString(as.text[done:end])
		for ; done < end; done++ {
			from = append(from, as.at(done))
		}
	}
	for _, m := range found {
		copyTo(m[0])
		piece := s.read(as.text[m[0]:m[1]])
		out.WriteString(piece)
		for range len(piece) {
			from = append(from, as.at(m[0]))
		}
		done = m[1]
	}
	copyTo(len(as.text))
	return reading{out.String(), append(from, as.at(done))}
}

// at returns the offset in the stored text of a byte of the reading.
func (as reading) at(i int) int {
	if as.from == nil {
		return i
	}
	return as.from[i]
}

// origin returns the span of the stored text that a span of the reading comes from.
func (as reading) origin(span []int) []int {
	to := span[1]
	for as.from != nil && to < len(as.text) && as.from[to] == as.from[span[1]-1] { // one character can become several
		to++
	}
	return []int{as.at(span[0]), as.at(to)}
}

// inASCII applies ascii to a character. It keeps a byte that is none: the other bytes of its
// character may not be decoded yet, as in "%D9" behind "%\u00449".
func inASCII(piece string) string {
	if !utf8.ValidString(piece) {
		return piece
	}
	return strings.Map(ascii, piece)
}

// ascii returns a dash, a blank or a digit of any script as ASCII, and -1 for a character that
// takes up no room.
func ascii(char rune) rune {
	switch {
	case char == '\n', char == '\t', char == '\r', char >= ' ' && char < 0x7f, char == utf8.RuneError:
		return char
	case unicode.In(char, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), char == '\u2800':
		return -1
	case unicode.Is(unicode.Pd, char), char == '\u2212':
		return '-'
	case unicode.Is(unicode.Zs, char):
		return ' '
	case unicode.IsDigit(char):
		// Digits come in runs of ten that begin with zero; runs may follow one another.
		zero := char
		for unicode.IsDigit(zero - 1) {
			zero--
		}
		return '0' + (char-zero)%10
	}
	return char
}

// decode decodes an escape. It returns one that means nothing as it is.
func decode(escape string) string {
	out := escape
	switch {
	case escape[0] == '%':
		out, _ = url.PathUnescape(escape)
	case escape[0] == '&':
		out = html.UnescapeString(escape)
	case escape == `\'`:
		out = "'"
	case json.Unmarshal([]byte(`"`+escape+`"`), &out) != nil: // not an escape of JSON
		if text, err := strconv.Unquote(`"` + escape + `"`); err == nil {
			out = text
		}
	}
	return out
}
