package cli

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

// wrapped breaks a text of one line between words into lines of at most width columns; a word that is
// longer is broken too. Characters that take up two columns count as two.
func wrapped(text string, width int) []string {
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

// wrap breaks a text between words to fit on the screen. Lines behind the first are indented by so many
// blanks; the first is taken to have as much before it already.
func (s screen) wrap(text string, indent int) string {
	return strings.Join(wrapped(text, max(s.width()-indent, narrowest/2)), "\n"+strings.Repeat(" ", indent))
}

// labelled is a line, or more, that begins with what it is about.
func (s screen) labelled(what, says string) string {
	const column = 10
	return fmt.Sprintf("%-*s%s\n", column, what, s.wrap(says, column))
}

// pair is a value and its name.
type pair struct{ name, value string }

// painted is a pair with its value in colour, which takes up no columns.
type painted struct {
	pair
	paint func(string) string // nil for none
}

// pairs writes "name: value" as often as a line takes it, every line indented by so many blanks.
func (s screen) pairs(indent int, all []painted) string {
	const gap = 3
	var b strings.Builder
	used := 0
	for _, p := range all {
		size := uniseg.StringWidth(p.name + ": " + p.value)
		switch {
		case used > 0 && used+gap+size <= s.width():
			b.WriteString(strings.Repeat(" ", gap))
			used += gap + size
		default:
			if used > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.Repeat(" ", indent))
			used = indent + size
		}
		value := p.value
		if used > s.width() { // it is alone on its line, and too long for that
			value = s.wrap(p.value, min(indent+uniseg.StringWidth(p.name)+2, s.width()/2))
		}
		if p.paint != nil {
			value = p.paint(value)
		}
		b.WriteString(p.name + ": " + value)
	}
	return b.String() + "\n"
}

// hanging breaks a line that is wider than so many columns. What follows is indented as far as the value in a
// line such as "  label   value", or else by two more than the line itself.
func hanging(line string, width int) string {
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
		line := wrapped(text, room)[0]
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

// pad fills a text up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
}
