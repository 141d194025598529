package cli

import (
	"io"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

const (
	// lineWidth is how many columns a report takes where it does not go to a terminal, and how many it takes
	// at most where it does.
	lineWidth = 120
	// tableWidth is how many columns a table takes at least. A narrower screen gets lines of "name: value".
	tableWidth = 100
	// noTerminal is how many columns a terminal is taken to have that does not say.
	noTerminal = 80
	// narrowest is the least width that text is wrapped to.
	narrowest = 20
)

// screen is where a report is shown. The zero value is a file or a pipe.
type screen struct {
	columns int // 0 where there is no terminal
	colored bool
}

// screenOf returns the screen that w writes to. It takes colour if it is a terminal, unless NO_COLOR is set
// (https://no-color.org) or TERM is dumb.
func screenOf(w io.Writer) screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return screen{}
	}
	s := screen{columns: noTerminal, colored: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		s.columns = max(columns, narrowest)
	}
	return s
}

// width is how many columns a report may take.
func (s screen) width() int {
	if s.columns == 0 {
		return lineWidth
	}
	return min(s.columns, lineWidth)
}

// tables reports whether there is room for tables.
func (s screen) tables() bool { return s.width() >= tableWidth }

// strong is for headings and results, good and bad for what is as it should be and what is not.
func (s screen) strong(text string) string { return s.paint(text, color.Bold) }
func (s screen) good(text string) string   { return s.paint(text, color.FgGreen) }
func (s screen) bad(text string) string    { return s.paint(text, color.FgRed) }

func (s screen) paint(text string, as ...color.Attribute) string {
	if !s.colored || text == "" {
		return text
	}
	c := color.New(as...)
	c.EnableColor() // the package looks at standard output, and this may be another file
	return c.Sprint(text)
}
