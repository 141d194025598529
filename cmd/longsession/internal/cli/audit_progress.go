package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// auditProgress shows on a terminal how many of the events of a file were read, once that takes long.
type auditProgress struct {
	w     io.Writer // nil: shows nothing
	width int       // of the bar itself, in columns
	start time.Time
	bar   *progressbar.ProgressBar
	total int64
	read  int64
}

func newAuditProgress(w io.Writer, sessions []*audit.Session) *auditProgress {
	p := &auditProgress{start: time.Now()}
	for _, s := range sessions {
		p.total += s.Events
	}
	if s := screenOf(w); s.columns > 0 {
		p.w, p.width = w, barWidth(s)
	}
	return p
}

// done is told that a session was read. A bar that cannot be drawn is no reason to stop.
func (p *auditProgress) done(s *audit.Session) {
	p.read += s.Events
	if p.w == nil || time.Since(p.start) < patience || p.read >= p.total {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(p.total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(p.width),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("events read"))
	}
	_ = p.bar.Set64(p.read)
}

// finish takes the bar away for good.
func (p *auditProgress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.bar, p.w = nil, nil
}
