package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

// auditWrap makes a text safe for a terminal and breaks it into lines of at most width columns: between words
// where it can, and where a character is two columns wide, by what it takes up.
func auditWrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, wrapLine(printable(strings.TrimSuffix(paragraph, "\r")), max(width, 2))...)
	}
	return lines
}

func wrapLine(text string, width int) []string {
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, strings.TrimRight(line, " "))
		line, used = "", 0
	}
	for _, word := range strings.SplitAfter(text, " ") {
		size := uniseg.StringWidth(strings.TrimRight(word, " "))
		if used > 0 && used+size > width {
			flush()
		}
		if size <= width {
			line += word
			used += uniseg.StringWidth(word)
			continue
		}
		for clusters := uniseg.NewGraphemes(word); clusters.Next(); {
			if used > 0 && used+clusters.Width() > width {
				flush()
			}
			line += clusters.Str()
			used += clusters.Width()
		}
	}
	if line != "" || len(lines) == 0 {
		flush()
	}
	return lines
}

// pad fills a text up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
}
