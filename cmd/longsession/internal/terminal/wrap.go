package terminal

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Wrap breaks a text of one line between words into lines of at most width columns. It also breaks
// a word that is longer than a line: behind commas, semicolons and slashes if it can, as JSON and paths have them.
// A wide character counts as the two columns that it takes up.
func Wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, strings.TrimRight(line, " "))
		line, used = "", 0
	}
	for _, word := range words(text, width) {
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

// words splits a text behind blanks, and words that are longer than a line behind their commas, semicolons and slashes.
func words(text string, width int) []string {
	var out []string
	for _, word := range strings.SplitAfter(text, " ") {
		for uniseg.StringWidth(strings.TrimRight(word, " ")) > width {
			at := strings.IndexAny(word, ",;/")
			if at < 0 || at == len(word)-1 {
				break
			}
			out, word = append(out, word[:at+1]), word[at+1:]
		}
		out = append(out, word)
	}
	return out
}

// WrapText makes a text of several lines safe to show, and wraps each of its lines.
func WrapText(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, Wrap(Printable(strings.TrimSuffix(line, "\r")), max(width, 2))...)
	}
	return lines
}

// Hang breaks a line that is wider than width. In a line such as "  label   value" the rest of the
// value is indented to its beginning; the rest of any other line is indented by two columns more
// than the line.
func Hang(line string, width int) string {
	if uniseg.StringWidth(line) <= width {
		return line
	}
	text := strings.TrimLeft(line, " ")
	before := line[:len(line)-len(text)]
	indent := len(before) + 2
	if _, value, found := strings.Cut(text, "  "); found {
		value = strings.TrimLeft(value, " ")
		if label := line[:len(line)-len(value)]; uniseg.StringWidth(label) <= width/3 {
			before, text, indent = label, value, uniseg.StringWidth(label)
		}
	}
	var b strings.Builder
	b.WriteString(before)
	room := width - uniseg.StringWidth(before)
	for first := true; ; first = false {
		line := Wrap(text, room)[0]
		if !first {
			b.WriteString("\n" + strings.Repeat(" ", indent))
		}
		b.WriteString(line)
		text = strings.TrimLeft(text[len(line):], " ")
		if text == "" {
			return b.String()
		}
		room = max(width-indent, 2)
	}
}

// Pad fills a text with blanks up to width columns.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
}

// PadLeft puts blanks in front of a text, up to width columns.
func PadLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-uniseg.StringWidth(text))) + text
}
