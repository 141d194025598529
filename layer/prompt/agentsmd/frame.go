package agentsmd

import (
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/internal/quote"
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
	return quote.Untag(text, "&lt;", strings.ReplaceAll(agentsFrame, "_", ""))
}
