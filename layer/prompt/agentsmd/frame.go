package agentsmd

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// frame returns a text between a tag and its end tag. The text must have gone through [escapeFrames], and end
// with a newline unless it is empty. Attributes must be quoted.
func frame(name, attributes, text string) string {
	var out strings.Builder
	out.Grow(len(name)*2 + len(attributes) + len(text) + 8)
	out.WriteString("<" + name)
	if attributes != "" {
		out.WriteString(" " + attributes)
	}
	out.WriteString(">\n" + text + "</" + name + ">\n")
	return out.String()
}

// quoted returns an attribute of a frame in quotes. It has no newline, no angle bracket and nothing
// invisible.
func quoted(s string) string {
	return angles.Replace(escapeFrames(strconv.Quote(s)))
}

var angles = strings.NewReplacer("<", `\u003c`, ">", `\u003e`)

// escapeFrames returns a text in which no tag can be taken for one of a frame of this package, whatever its
// case, its spacing and the letters and brackets that look alike. The bracket of such a tag is written as
// &lt;. All other text stays as it is.
func escapeFrames(text string) string {
	var out strings.Builder
	done := 0
	for i, r := range text {
		if !isBracket(r) {
			continue
		}
		if end := i + utf8.RuneLen(r); isTagOf(text[end:], agentsFrame) {
			out.WriteString(text[done:i])
			out.WriteString("&lt;")
			done = end
		}
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// isTagOf matches a text with a name. In front of the name there may be slashes. In it and in front of it
// there may be blanks, dashes, underscores and invisible characters. No letter or digit may follow it.
func isTagOf(text, name string) bool {
	name = strings.ReplaceAll(name, "_", "")
	for _, r := range text {
		if name == "" {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}
		for _, letter := range letters(r) {
			switch {
			case name == "": // the character has more letters, as in "㏈"
				return false
			case rune(name[0]) == letter:
				name = name[1:]
			case !isFiller(letter):
				return false
			}
		}
	}
	return name == ""
}

// isFiller reports whether a character may be in a tag without changing how it is read.
func isFiller(r rune) bool {
	return r == '_' || r == '.' || r == ':' || isSlash(r) || isHidden(r) ||
		unicode.In(r, unicode.White_Space, unicode.Dash, unicode.Mn, unicode.Me, unicode.Cf, unicode.Quotation_Mark)
}

// letters returns a character in its plain form: lower case, without accents, not full-width or bold or
// small, and Latin if it looks like that.
func letters(r rune) string {
	if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r < 'A' {
		return string(r)
	}
	plain := norm.NFKD.String(string(unicode.ToLower(r)))
	return lookAlikes.Replace(strings.ToLower(plain))
}

// lookAlikes are the letters of other scripts that look like those in the names of frames.
var lookAlikes = strings.NewReplacer(
	"а", "a", "α", "a", "ɑ", "a", "ᴀ", "a", "ꭺ", "a", "ᗅ", "a", "ª", "a",
	"ɡ", "g", "ց", "g", "ɢ", "g", "ԍ", "g", "ꮐ", "g", "ᶃ", "g",
	"е", "e", "ε", "e", "ҽ", "e", "ᴇ", "e", "ꭼ", "e", "є", "e", "℮", "e",
	"ո", "n", "п", "n", "ν", "n", "ɴ", "n", "ռ", "n", "η", "n",
	"т", "t", "τ", "t", "ᴛ", "t", "ꭲ", "t", "ţ", "t",
	"ѕ", "s", "ꜱ", "s", "ʂ", "s", "ꮪ", "s", "տ", "s",
	"м", "m", "μ", "m", "ᴍ", "m", "ꮇ", "m", "ϻ", "m", "ᛖ", "m",
	"ԁ", "d", "ɗ", "d", "ᴅ", "d", "ꭰ", "d", "ժ", "d", "đ", "d", "ɖ", "d",
)

// isBracket reports whether a character is or looks like the bracket that opens a tag.
func isBracket(r rune) bool { return r == '<' || r > '~' && strings.ContainsRune(brackets, r) }

// isSlash reports whether a character is or looks like the slash of an end tag.
func isSlash(r rune) bool {
	return r == '/' || r == '\\' || r == '|' || r == '!' || r == '?' || r > '~' && strings.ContainsRune(slashes, r)
}

const (
	brackets = "\uff1c\ufe64\u2039\u00ab\u3008\u2329\u27e8\u27ea\u300a\u276e\u276c\u2770\u02c2\u1438\u29fc\u227a\u22d6\u226a\u226e\u02f1\u2aa1\u2264\u2272\ufe3f\U0001d236"
	slashes  = "\u2044\u2215\u29f8\u29f5\u2571\u2572\u27cb\u27cd\u1735\u2f03\u3033\uff0f\uff3c\ufe68"
)
