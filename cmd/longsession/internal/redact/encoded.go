package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how many layers of base64 are taken off.
const maxDepth = 3

// certain is how long a text among other bytes must be to count, in bytes.
const certain = 4

// run is what may be base64 of either alphabet, over several lines, with padding or not.
var run = regexp.MustCompile(`[A-Za-z0-9+/_-]{4,}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/_-]+)*={0,2}`)

var standard = strings.NewReplacer("-", "+", "_", "/", "=", "", " ", "", "\t", "", "\r", "", "\n", "")

// encoded returns the runs of base64 in a text that hold something to take out.
func (r *Redactor) encoded(text string, depth int) (found [][]int) {
	for _, at := range run.FindAllStringIndex(text, -1) {
		letters := standard.Replace(text[at[0]:at[1]])
		// What stands in front of the data, such as the folders of a URL, may be letters of the alphabet too.
		for begin := range min(4, len(letters)) {
			part := letters[begin:]
			if len(part)%4 == 1 {
				part = part[:len(part)-1]
			}
			if data, err := base64.RawStdEncoding.DecodeString(part); err == nil && r.holds(string(data), depth) {
				found = append(found, at)
				break
			}
		}
	}
	return found
}

// holds reports whether decoded data has something to take out. Words decode to random bytes, in which only a
// stretch of text means anything.
func (r *Redactor) holds(data string, depth int) bool {
	for from := 0; from < len(data); {
		to := from
		for to < len(data) {
			char, size := utf8.DecodeRuneInString(data[to:])
			if char == utf8.RuneError && size == 1 || !unicode.IsGraphic(char) && !unicode.IsSpace(char) && !unicode.Is(unicode.Cf, char) && char != 0 { // UTF-16 has zeros between its letters
				break
			}
			to += size
		}
		if to-from >= certain || from == 0 && to == len(data) {
			if len(r.spans(data[from:to], depth)) > 0 {
				return true
			}
		}
		from = to + 1
	}
	return false
}

// utf16Pair returns the character that two escapes are together, utf8.RuneError if they are none.
func utf16Pair(high, low rune) rune { return utf16.DecodeRune(high, low) }
