package audit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text with everything escaped that whoever shows it would act on and nobody sees: control
// characters but line breaks and tabs, marks that turn the direction of text, invisible tags. A carriage return
// that ends a line is left out; any other would start a line in Markdown.
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
