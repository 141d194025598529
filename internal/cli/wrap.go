package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

// lineWidth is how wide reports are at most, where words allow.
const lineWidth = 120

// wrap breaks text between words into lines of lineWidth. Lines behind the first are indented by so many
// blanks; the first is taken to have as much before it already.
func wrap(text string, indent int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Split(text, " ") {
		width := uniseg.StringWidth(word)
		switch {
		case i == 0:
		case column+1+width > lineWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}
