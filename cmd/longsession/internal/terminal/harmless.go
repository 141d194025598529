package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// obeyed reports whether a terminal, an editor or a browser obeys a character instead of showing it: controls other
// than tabs and line ends, and those that turn the direction of the text around them.
func obeyed(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < 0x20 || r >= 0x7f && r <= 0x9f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Harmless returns a writer to w for JSON, Markdown and pages with text of unknown origin. Characters that whoever shows
// the text would obey, such as \u202e, which reverses what follows, are written as in JSON: readers of JSON get the same
// text, and people see the escape. Each Write must end with a whole character.
func Harmless(w io.Writer) io.Writer { return harmless{w} }

type harmless struct{ to io.Writer }

func (h harmless) Write(b []byte) (int, error) {
	text := string(b)
	if strings.IndexFunc(text, obeyed) < 0 {
		return h.to.Write(b)
	}
	var out strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if obeyed(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteString(text[:size])
		}
		text = text[size:]
	}
	if _, err := io.WriteString(h.to, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}
