package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/adk-go-ext/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/internal/replay"
)

// page is the HTML report. It is written to a temporary file beside its place, which takes the place at
// the end: whoever looks meets the old report or the new one, and never a half.
type page struct {
	name    string
	file    *renameio.PendingFile
	reports []*replay.Report
}

// newPage checks that the file can be written.
func newPage(name string) (*page, error) {
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular():
		return nil, badInput("--html %s is no regular file: name a file to write to", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, badInput("--html: cannot write there: %w", err)
	}
	file, err := renameio.NewPendingFile(name, renameio.WithTempDir(filepath.Dir(name)),
		renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		var at *fs.PathError // of the temporary file, whose name says nothing
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, badInput("--html %s: cannot write there: %w; name a file in a folder that exists and may be written to", name, err)
	}
	return &page{name: name, file: file}, nil
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
	if err := chart.Write(p.file, chart.Page{Title: "Replay", Ran: lines, Totals: sum.totals, Reports: p.reports}); err != nil {
		return failed("--html %s: %w", p.name, err)
	}
	if err := p.file.CloseAtomicallyReplace(); err != nil {
		return failed("--html %s: %w", p.name, err)
	}
	return nil
}

// cleanup removes the temporary file, unless it has taken its place.
func (p *page) cleanup() error { return p.file.Cleanup() }

// keepsInputs refuses to write over what is read.
func keepsInputs(s *settings, inputs []input) error {
	for _, out := range []struct{ flag, name string }{{"--html", s.html}, {"--db", s.db}} {
		if out.name == "" {
			continue
		}
		written, err := os.Stat(out.name)
		if err != nil {
			continue // it is not there, or newPage says what is wrong
		}
		for _, in := range inputs {
			if read, err := os.Stat(in.name); err == nil && os.SameFile(written, read) {
				return badInput("%s %s is also read from: name another file", out.flag, out.name)
			}
		}
	}
	if s.html != "" && s.html == s.db {
		return badInput("--html and --db name the same file, %s: name two", s.html)
	}
	return nil
}
