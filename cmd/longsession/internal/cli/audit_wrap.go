package cli

import "strings"

// auditWrap makes a text safe for a terminal and breaks it into lines of at most width columns: between words
// where it can, and where a character is two columns wide, by what it takes up.
func auditWrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, wrapped(printable(strings.TrimSuffix(paragraph, "\r")), max(width, 2))...)
	}
	return lines
}
