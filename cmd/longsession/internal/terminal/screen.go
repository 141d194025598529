package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

const (
	// LineWidth is the width of a report in a file or a pipe, and its greatest width on a terminal.
	LineWidth = 120
	// TableWidth is the least width for a table. Narrower screens get lines of "name: value".
	TableWidth = 100
	// DefaultColumns is the width of a terminal that does not report one.
	DefaultColumns = 80
	// Narrowest is the least width that text is wrapped to.
	Narrowest = 20
)

// Screen is the place where a report is shown. The zero value is a file or a pipe.
type Screen struct {
	Columns int // 0 for a file or a pipe
	colored bool
}

// Of returns the screen that w writes to. A terminal gets color, unless NO_COLOR is set
// (https://no-color.org) or TERM is dumb.
func Of(w io.Writer) Screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Screen{}
	}
	s := Screen{Columns: DefaultColumns, colored: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		s.Columns = max(columns, Narrowest)
	}
	return s
}

// Width is the number of columns that a report may use.
func (s Screen) Width() int {
	if s.Columns == 0 {
		return LineWidth
	}
	return min(s.Columns, LineWidth)
}

// Tables reports whether there is room for tables.
func (s Screen) Tables() bool { return s.Width() >= TableWidth }

// Strong is for headings and results.
func (s Screen) Strong(text string) string { return s.paint(text, color.Bold) }

// Good is for what is as it should be.
func (s Screen) Good(text string) string { return s.paint(text, color.FgGreen) }

// Bad is for errors and findings.
func (s Screen) Bad(text string) string { return s.paint(text, color.FgRed) }

func (s Screen) paint(text string, as ...color.Attribute) string {
	if !s.colored || text == "" {
		return text
	}
	c := color.New(as...)
	c.EnableColor() // by itself, the package asks whether standard output is a terminal
	return c.Sprint(text)
}

// Wrap breaks a text between words to fit the screen. It indents every line but the first, which
// the caller has indented already.
func (s Screen) Wrap(text string, indent int) string {
	return strings.Join(Wrap(text, max(s.Width()-indent, Narrowest/2)), "\n"+strings.Repeat(" ", indent))
}

// Hang breaks a line on a terminal as [Hang] does. In a file or a pipe the line stays whole.
func (s Screen) Hang(line string) string {
	if s.Columns == 0 {
		return line
	}
	return Hang(line, s.Columns)
}

// Labeled writes a label and the text behind it, on as many lines as it takes.
func (s Screen) Labeled(label, text string) string {
	const column = 10
	return fmt.Sprintf("%-*s%s\n", column, label, s.Wrap(text, column))
}

// Value is a named value of a report.
type Value struct {
	Name, Text string
	Paint      func(string) string // nil for no color
}

// Values writes "name: value" pairs, as many to a line as fit, with every line indented.
func (s Screen) Values(indent int, all []Value) string {
	const gap = 3
	var b strings.Builder
	used := 0
	for _, v := range all {
		size := uniseg.StringWidth(v.Name + ": " + v.Text)
		switch {
		case used > 0 && used+gap+size <= s.Width():
			b.WriteString(strings.Repeat(" ", gap))
			used += gap + size
		default:
			if used > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.Repeat(" ", indent))
			used = indent + size
		}
		text := v.Text
		if used > s.Width() { // the value is alone on its line and still too long
			text = s.Wrap(text, min(indent+uniseg.StringWidth(v.Name)+2, s.Width()/2))
		}
		if v.Paint != nil {
			text = v.Paint(text)
		}
		b.WriteString(v.Name + ": " + text)
	}
	return b.String() + "\n"
}

// Complain writes an error or a warning to w, behind the name of the command. It takes one line, or
// as many as the text needs on a terminal.
func Complain(w io.Writer, text string) {
	const who = "longsession:"
	s := Of(w)
	text = who + " " + text
	if s.Columns > 0 {
		text = strings.Join(Wrap(text, s.Columns), "\n")
	}
	fmt.Fprintln(w, s.Bad(who)+strings.TrimPrefix(text, who))
}
