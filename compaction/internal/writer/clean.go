package writer

import (
	"strings"
	"unicode"
)

// CleanText removes characters from somebody's words that storage cannot keep. PostgreSQL refuses a
// NUL in JSON, and with it the whole record. Other control characters except line breaks and tabs
// are removed too, and broken UTF-8 becomes U+FFFD.
func CleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
