package summarizer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel limits a name (of an author, role, tool, MIME type or error code) in runes. Names are
// untrusted, and they are part of a line's prefix, which is never cut.
const maxLabel = 80

// escape makes s fit on one line. Line breaks of every kind, other control characters and marks
// that reorder text on display become backslash escapes. Bytes that are not UTF-8 become U+FFFD.
// Backslashes stay as they are, because paths and JSON must reach the summary verbatim. So escaping
// twice changes nothing more.
func escape(s string) string {
	i := strings.IndexFunc(s, hostile)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	b.WriteString(s[:i])
	for _, r := range s[i:] {
		writeEscaped(&b, r)
	}
	return b.String()
}

func writeEscaped(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == utf8.RuneError:
		b.WriteRune(r) // r was in s, or it replaces an invalid byte
	case hostile(r):
		b.WriteString(`\u`)
		hex := strconv.FormatInt(int64(r), 16)
		b.WriteString("0000"[min(len(hex), 4):])
		b.WriteString(hex)
	default:
		b.WriteRune(r)
	}
}

// hostile reports whether r must be escaped on a line.
func hostile(r rune) bool {
	switch {
	case r < 0x80:
		return r < 0x20 || r == 0x7f
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true // bidirectional embeddings, overrides and isolates
	default:
		return r == utf8.RuneError
	}
}

// label renders a name, or missing if the name is blank. It quotes a name that is not a plain word,
// so that a name cannot imitate the punctuation around it.
func label(name, missing string) string {
	if blank(name) {
		return missing
	}
	if len(name) > 4*maxLabel {
		name = name[:4*maxLabel] // at least maxLabel runes; the cut below is by runes
	}
	name = escape(name)
	if utf8.RuneCountInString(name) > maxLabel {
		name = name[:runeOffset(name, maxLabel-1)] + "…"
	}
	if strings.IndexFunc(name, func(r rune) bool { return !labelRune(r) }) < 0 {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, "'") + `"`
}

func labelRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./+…", r)
}

// quote renders a person's free text as one quoted line of at most limit runes.
func quote(text string, limit int) string {
	text = strings.TrimSpace(text)
	return `"` + strings.ReplaceAll(cut(text, utf8.RuneCountInString(text), limit), `"`, "'") + `"`
}
