package replaycmd

import (
	"path/filepath"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// page is the HTML report. It replaces its file at the end of the run, as a whole.
type page struct {
	*files.Pending
	inputs  []input
	now     time.Time
	reports []*replay.Report
}

// newPage checks that the file can be written.
func newPage(name string, inputs []input) (*page, error) {
	out := files.Output{Flag: "--html", Name: name}
	if err := out.Check(); err != nil {
		return nil, err
	}
	pending, err := out.Create(files.Shared)
	if err != nil {
		return nil, err
	}
	return &page{Pending: pending, inputs: inputs, now: time.Now()}, nil
}

// title names the first input and the day.
func title(inputs []input, now time.Time) string {
	what := "standard input"
	if !inputs[0].stdin {
		what = terminal.Printable(filepath.Base(inputs[0].name))
	}
	switch others := len(inputs) - 1; {
	case others == 1:
		what += " and another file"
	case others > 1:
		what += " and " + terminal.Commas(others) + " other files"
	}
	return "Replay of " + what + ", " + now.Format(time.DateOnly)
}

// add keeps the reports of a conversation until the end, since the page begins with the totals.
func (p *page) add(reports []*replay.Report) { p.reports = append(p.reports, reports...) }

// write fills the page and moves it to its place.
func (p *page) write(plan *plan, sum *summary) error {
	var lines []string
	for _, l := range header(plan) {
		if l[0] == "" {
			lines = append(lines, l[1])
		} else {
			lines = append(lines, l[0]+": "+l[1])
		}
	}
	page := chart.Page{Title: title(p.inputs, p.now), Summary: conclusion(plan, sum), Recommendation: recommended(plan, sum), Ran: lines, Totals: sum.totals, Reports: p.reports, Time: p.now.UTC().Truncate(time.Second)}
	if err := chart.Write(p, page); err != nil {
		return err
	}
	return p.Commit()
}

// checkOutputs refuses to write over a file that the run reads, or to write two outputs to one
// file. A session file takes up several: with --db new.db, SQLite also writes to new.db-wal and others,
// so these must be neither an input nor the page.
func checkOutputs(f *flags, inputs []input) error {
	for _, in := range inputs {
		switch {
		case in.stdin:
		case f.html != "" && files.Same(f.html, in.name):
			return exit.Usage("--html %s is also an input: name another file", f.html)
		case f.db != "" && files.Same(f.db, in.name):
			return exit.Usage("--db %s is also an input: name another file", f.db)
		case f.db != "" && files.SameAsAny(in.name, files.OfDatabase(f.db)):
			return exit.Usage("--db %s would keep its newest events in %s, which is also an input: name another file", f.db, in.name)
		}
	}
	if f.html != "" && f.db != "" && files.SameAsAny(f.html, files.OfDatabase(f.db)) {
		return exit.Usage("--html and --db name the same file, %s, or one that belongs to it: name two", f.html)
	}
	return nil
}
