package audit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible escapes invisible characters that affect how a text is shown: control characters except
// line breaks and tabs, marks that change the direction of text, invisible tags. It drops a
// carriage return at the end of a line, and escapes any other, which would begin a line in
// Markdown.
func visible(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for rest := strings.ReplaceAll(text, "\r\n", "\n"); rest != ""; {
		char, size := utf8.DecodeRuneInString(rest)
		switch {
		case char == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0]), 16))
		case hidden(char):
			quoted := strconv.QuoteRune(char)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(char)
		}
		rest = rest[size:]
	}
	return b.String()
}

func hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u200c', '\u200d': // joiners, without which some scripts and emoji fall apart
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}
