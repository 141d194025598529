package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Untag returns a text in which each bracket that begins a tag of one of these names, or its end, is another string,
// such as "&lt;". That must hold no bracket. Names are written in lower case and without spaces and underscores:
// "agentsmd". The rest of the text stays as it is, with names that go on, as in "<agents_mdash>".
func Untag(text, by string, names ...string) string {
	words := folds(names)
	return replaced(text, by, '<', Angle, inTag, func(rest string) bool {
		for _, name := range words {
			end, whole := begins(rest, name, inTag)
			next, _ := utf8.DecodeRuneInString(rest[end:])
			if whole && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return true
			}
		}
		return false
	})
}

// Angle reports whether a character is or looks like the bracket that opens a tag.
func Angle(r rune) bool {
	const others = "\uff1c\ufe64\u2039\u00ab\u3008\u2329\u27e8\u27ea\u300a\u276e\u276c\u2770\u02c2\u1438\u29fc\u227a\u22d6\u226a\u226e\u02f1\u2aa1\u2264\u2272\ufe3f\U0001d236" +
		"\u304f\U00021fe8\u16b2\u25c1\u25c2\u25c3\u25c4\u22b0\u2a79\u2a7d\u22d8"
	return r == '<' || r > '~' && strings.ContainsRune(others, r) || tagged(r) == '<'
}

// inTag reports whether a character may be in a tag, in front of its name or within it, without a meaning.
func inTag(r rune) bool {
	const ends = ">\uff1e\ufe65\u203a\u00bb\u276f\u02c3\u1433\u227b\u22d7\u226b\u25b7\u25b8\u25b9\u25ba\u22b1"
	return separates(r) && !strings.ContainsRune(ends, r)
}
