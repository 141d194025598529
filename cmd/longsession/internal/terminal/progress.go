package terminal

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// patience is the time for which a run shows no progress: most runs end before.
	patience = 2 * time.Second
	// blink is the shortest time between two drawings of the bar.
	blink = 100 * time.Millisecond
)

// Progress is a bar on a terminal that appears once a run takes longer than two seconds. Writers
// that are no terminals never get a bar. A Progress is safe for concurrent use.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer // nil shows nothing
	width int       // of the bar itself, in columns
	now   func() time.Time
	start time.Time
	drawn time.Time
	bar   *progressbar.ProgressBar // nil until patience is over
	total int64
	done  int64
}

// NewProgress returns a bar that is full at total. A total of -1 means that the end is unknown.
func NewProgress(w io.Writer, total int64) *Progress {
	const most, least, description = 30, 4, 50
	s := Of(w)
	p := &Progress{now: time.Now, start: time.Now(), total: total, width: max(least, min(most, s.Columns-description))}
	if s.Columns > 0 {
		p.w = w
	}
	return p
}

// Advance adds work that was done. describe returns the text next to the bar; Advance calls it only
// to draw, under the lock of the Progress.
func (p *Progress) Advance(done int64, describe func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += done
	now := p.now()
	if p.w == nil || now.Sub(p.start) < patience || now.Sub(p.drawn) < blink {
		return
	}
	p.drawn = now
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(p.total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(p.width),
			progressbar.OptionSpinnerType(14),
			progressbar.OptionSetSpinnerChangeInterval(0), // else it draws by itself, even into a row of a table
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetElapsedTime(false), // it would count from the first drawing
			progressbar.OptionSetPredictTime(false),
		)
	}
	p.bar.Describe(describe())
	at := p.done
	if p.total > 0 { // a full bar would finish itself
		at = min(at, p.total-1)
	}
	_ = p.bar.Set64(at) // a bar that cannot be drawn is no reason to stop
}

// Aside clears the bar while write runs, which may write to the same terminal.
func (p *Progress) Aside(write func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return write()
}

// Finish removes the bar for good.
func (p *Progress) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.bar, p.w = nil, nil
}

func (p *Progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
