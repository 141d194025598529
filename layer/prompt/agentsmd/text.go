package agentsmd

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decode returns the bytes of a file as text: without a byte order mark, with \n between lines, and with
// escapes for what a person who reads the file would not see. A byte that is not UTF-8 becomes \xE9, an
// invisible character becomes \u{200B}. The reason says what is wrong with the file; refused means that it
// is no text at all.
func decode(data []byte) (text, reason string, refused bool) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return "", "is UTF-16: save it as UTF-8", true
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", fmt.Sprintf("is binary: it has a zero byte at offset %d; replace it by text in UTF-8", i), true
	}
	invalid, hidden := 0, 0
	var out strings.Builder
	out.Grow(len(data))
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
			fmt.Fprintf(&out, `\x%02X`, data[i])
		case r == '\r':
			out.WriteByte('\n')
			if i+1 < len(data) && data[i+1] == '\n' {
				size++
			}
		case isHidden(r):
			hidden++
			fmt.Fprintf(&out, `\u{%04X}`, r)
		default:
			out.Write(data[i : i+size])
		}
		i += size
	}
	if invalid > len(data)/4 { // a text in Latin-1 has fewer, one in another alphabet more
		return "", fmt.Sprintf("is no text in UTF-8: %d of %d bytes are invalid; save it as UTF-8", invalid, len(data)), true
	}
	var reasons []string
	if invalid > 0 {
		reasons = append(reasons, fmt.Sprintf(`has %d bytes that are not UTF-8, and the model sees them as \xNN: save it as UTF-8`, invalid))
	}
	if hidden > 0 {
		reasons = append(reasons, fmt.Sprintf(`has %d invisible characters, and the model sees them as \u{NNNN}: remove them unless you know why they are there`, hidden))
	}
	return out.String(), strings.Join(reasons, "; "), false
}

// isHidden reports whether a person who reads a file would not see a character, or would see the text in
// another order because of it. Such characters hide instructions from reviewers. Those that scripts and
// emoji need are not hidden.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || ' ' <= r && r <= '~':
		return false
	case r == '\u00ad', '\u200c' <= r && r <= '\u200f', r == '\u061c', r == '\u034f':
		return false // soft hyphens, joiners, marks of direction, the grapheme joiner
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) ||
		0xe0100 <= r && r <= 0xe01ef // variation selectors that can carry any byte
}

// wholeLines returns the beginning of a text that was not read to its end: up to the last end of a line.
// Without one, it returns all but an incomplete character at the end.
func wholeLines(data []byte) []byte {
	if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
		return data[:i+1]
	}
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if b := data[len(data)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(data[len(data)-i:]) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}
