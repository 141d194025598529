package redact

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxDepth is the number of layers of base64 that are decoded.
const maxDepth = 3

// certain is the least length of a text among other bytes that counts as text.
const certain = 4

// run finds possible base64 in either alphabet, over several lines, with or without padding.
var run = regexp.MustCompile(`[A-Za-z0-9+/_-]{4,}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/_-]+)*={0,2}`)

var standard = strings.NewReplacer("-", "+", "_", "/", "=", "", " ", "", "\t", "", "\r", "", "\n", "")

// encoded returns the runs of base64 in a text that contain a match.
func (r *Redactor) encoded(text string, depth int) (found [][]int) {
	for _, at := range run.FindAllStringIndex(text, -1) {
		letters := standard.Replace(text[at[0]:at[1]])
		// Text before the data, such as the folders of a URL, can consist of letters of the
		// alphabet too.
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

// holds reports whether decoded data contains a match. Ordinary words decode to random bytes, so
// holds only looks at runs of text.
func (r *Redactor) holds(data string, depth int) bool {
	runs := strings.FieldsFunc(strings.ToValidUTF8(data, "\x01"), func(char rune) bool {
		return !unicode.IsGraphic(char) && !unicode.IsSpace(char) && !unicode.Is(unicode.Cf, char) && char != 0 // UTF-16 has zeros between its letters
	})
	return slices.ContainsFunc(runs, func(text string) bool {
		return (len(text) >= certain || len(text) == len(data)) && len(r.spans(text, depth)) > 0
	})
}
