package chart

import (
	"bufio"
	"errors"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// Page is the content of the page. The zero value is a page that says that no conversation was
// replayed.
type Page struct {
	// Title is the heading and the title of the browser's tab; "Replay" if empty.
	Title string
	// Summary is a sentence that sums the replay up; none if empty.
	Summary string
	// Recommendation is what to do, in sentences below the summary.
	Recommendation []string
	// Ran are lines that describe the run: policies, windows, prices.
	Ran []string
	// Totals has one total for each policy, in the order of the page. A policy that only Reports
	// name comes after them.
	Totals []replay.Total
	// Reports are in the order of the page. Those of one conversation (File, Line and ID) are shown
	// together, wherever they are in the list. None may be nil.
	Reports []*replay.Report
	// Time is the time of the run; the zero value is not shown.
	Time time.Time
}

// Write writes the page to w. Equal pages give equal bytes. Several goroutines may call Write at
// once, as long as none changes the reports. An error comes from w, or names a report that cannot
// be shown; the output is then not a whole page.
func Write(w io.Writer, page Page) error {
	for i, r := range page.Reports {
		if r == nil {
			return fmt.Errorf("chart: report %d of %d is nil: leave out conversations that were not played", i+1, len(page.Reports))
		}
	}
	out := bufio.NewWriterSize(w, 1<<16)
	err := templates.ExecuteTemplate(terminal.Harmless(out), "page.html", newView(page))
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("chart: cannot write the report: %w", err)
	}
	return nil
}

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count":     terminal.Commas[int],
	"few":       terminal.Plural[int],
	"percent":   percent,
	"dollars":   dollars,
	"share":     share,
	"tokens":    tokensOf,
	"overlong":  overlong,
	"written":   written,
	"percentOf": func(part *float64) string { return percent(100 * *part) },
	"add":       func(a, b int) int { return a + b },
}).ParseFS(assets, "assets/*.html"))
