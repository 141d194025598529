package cli

import (
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/replay"
)

// page is the HTML report. It is written to a temporary file beside its place, which takes the place at
// the end: whoever looks meets the old report or the new one, and never a half.
type page struct {
	name    string
	file    *renameio.PendingFile
	inputs  []input
	now     time.Time
	reports []*replay.Report
}

// newPage checks that the file can be written.
func newPage(name string, inputs []input) (*page, error) {
	if err := replaceable("--html", name); err != nil {
		return nil, err
	}
	file, err := pendingFile("--html", name, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	return &page{name: name, file: file, inputs: inputs, now: time.Now()}, nil
}

// title names what was replayed and the day.
func title(inputs []input, now time.Time) string {
	what := "standard input"
	if !inputs[0].stdin {
		what = printable(filepath.Base(inputs[0].name))
	}
	switch others := len(inputs) - 1; {
	case others == 1:
		what += " and another file"
	case others > 1:
		what += " and " + commas(others) + " other files"
	}
	return "Replay of " + what + ", " + now.Format(time.DateOnly)
}

// add keeps the reports of a conversation until the end: the page begins with the totals.
func (p *page) add(reports []*replay.Report) { p.reports = append(p.reports, reports...) }

func (p *page) write(plan *plan, sum *summary) error {
	var lines []string
	for _, l := range ranLines(plan) {
		if l[0] == "" {
			lines = append(lines, l[1])
		} else {
			lines = append(lines, l[0]+": "+l[1])
		}
	}
	page := chart.Page{Title: title(p.inputs, p.now), Summary: conclusion(plan, sum), Ran: lines, Totals: sum.totals, Reports: p.reports, Time: p.now.UTC().Truncate(time.Second)}
	if err := chart.Write(p.file, page); err != nil {
		return failed("--html %s: %w", p.name, cause(err))
	}
	if err := replaceable("--html", p.name); err != nil {
		return err // it came there since
	}
	if err := p.file.CloseAtomicallyReplace(); err != nil {
		return failed("--html %s: %w", p.name, cause(err))
	}
	return nil
}

// cleanup removes the temporary file, unless it has taken its place.
func (p *page) cleanup() error { return p.file.Cleanup() }

// keepsInputs refuses to write over what is read, or over what is also written.
func keepsInputs(s *settings, inputs []input) error {
	for _, in := range inputs {
		switch {
		case in.stdin:
		case s.html != "" && sameFile(s.html, in.name):
			return badInput("--html %s is also read from: name another file", s.html)
		case s.db != "" && sameFile(s.db, in.name):
			return badInput("--db %s is also read from: name another file", s.db)
		case s.db != "" && isAny(in.name, databaseFiles(s.db)):
			return badInput("--db %s would keep its newest events in %s, which is read from: name another file", s.db, in.name)
		}
	}
	if s.html != "" && s.db != "" && isAny(s.html, databaseFiles(s.db)) {
		return badInput("--html and --db name the same file, %s, or one that belongs to it: name two", s.html)
	}
	return nil
}
