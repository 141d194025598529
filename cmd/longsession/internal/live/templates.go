package live

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/persistence"
)

//go:embed assets
var assets embed.FS

var (
	styleSheet = chart.Style() + asset("live.css")
	script     = chart.Drawing() + asset("live.js")
)

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the file is a part of the binary
	}
	return string(text)
}

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count":     terminal.Commas[int],
	"count64":   terminal.Commas[int64],
	"few":       terminal.Plural[int],
	"few64":     terminal.Plural[int64],
	"time":      shortTime,
	"line":      line,
	"notStored": func() string { return audit.NotStored },
	"percent":   func(part, whole int) string { return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(max(1, whole))) },
}).ParseFS(assets, "assets/*.html"))

// line is a name on one line, with everything visible.
func line(name string) string {
	a := audit.ArticleOf(&audit.Entry{Author: name})
	return strings.TrimSpace(a.Author)
}

// reopens reports whether an error goes away once the file was opened again.
func reopens(err error) bool {
	return errors.Is(err, persistence.ErrWritten) || errors.Is(err, persistence.ErrMoved)
}

func asWhich(err error, which **audit.ErrWhich) bool { return errors.As(err, which) }
