package chart

import (
	"bufio"
	"errors"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/adk-go-ext/longsession/replay"
)

// Page is what the page shows. The zero value is a page that says that nothing was replayed.
type Page struct {
	// Title is the heading and the name of the browser's tab; "Replay" if empty.
	Title string
	// Summary is a sentence that sums the replay up; none if empty.
	Summary string
	// Ran are lines that say what was run: policies, windows, prices.
	Ran []string
	// Totals has one for each policy, in the order in which they are shown. A policy that only
	// Reports name comes behind them.
	Totals []replay.Total
	// Reports in the order in which conversations are shown. Those of one conversation (File, Line
	// and ID) are shown together, wherever they stand; none may be nil.
	Reports []*replay.Report
	// Time is shown as the time of the run; the zero value is none.
	Time time.Time
}

// Write writes the page to w. The same page gives the same bytes. It holds nothing back and reads
// nothing but page, so it may be called by several goroutines at once; none may change the reports
// meanwhile. An error is w's, or names a report that cannot be shown; what was written by then is
// no whole page.
func Write(w io.Writer, page Page) error {
	for i, r := range page.Reports {
		if r == nil {
			return fmt.Errorf("chart: report %d of %d is nil: leave out conversations that were not played", i+1, len(page.Reports))
		}
	}
	out := bufio.NewWriterSize(w, 1<<16)
	err := templates.ExecuteTemplate(out, "page.html", newView(page))
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("chart: cannot write the report: %w", err)
	}
	return nil
}

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count":    count,
	"few":      few,
	"percent":  percent,
	"dollars":  dollars,
	"share":    share,
	"tokens":   tokensOf,
	"overlong": overlong,
	"add":      func(a, b int) int { return a + b },
}).ParseFS(assets, "assets/*.html"))
