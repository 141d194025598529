package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long a run stays silent before it shows how far it is.
const patience = 2 * time.Second

// blink is how long the bar stands still at least.
const blink = 100 * time.Millisecond

// progress shows on a terminal how far a replay is: a bar of the input that was dealt with, and how many
// conversations and messages were played. It is safe for concurrent use.
type progress struct {
	mu       sync.Mutex
	w        io.Writer // nil: shows nothing
	width    int       // of the bar itself, in columns
	now      func() time.Time
	start    time.Time
	drawn    time.Time
	bar      *progressbar.ProgressBar // nil until patience is over
	total    int64                    // bytes of input; -1 if unknown
	done     int64
	messaged int
	whole    int // conversations
}

// newProgress returns a progress that writes to w if that is a terminal.
func newProgress(w io.Writer, inputs []input, quiet bool) *progress {
	p := &progress{now: time.Now, start: time.Now()}
	for _, in := range inputs {
		if in.bytes == 0 {
			p.total = -1
			break
		}
		p.total += in.bytes
	}
	s := screenOf(w)
	p.width = barWidth(s)
	if s.columns > 0 && !quiet {
		p.w = w
	}
	return p
}

// barWidth is how wide a bar is next to what it says.
func barWidth(s screen) int {
	const beside, most, least = 50, 30, 4
	return max(least, min(most, s.columns-beside))
}

// messages is told how many messages were played.
func (p *progress) messages(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messaged += n
	p.show()
}

// played is told that a conversation is reported, for which so many bytes were read.
func (p *progress) played(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole++
	p.done += bytes
	p.show()
}

// add is told of bytes that were passed over.
func (p *progress) add(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += bytes
	p.show()
}

// show draws the bar, not more often than eyes can follow. A bar that cannot be drawn is no reason to stop.
func (p *progress) show() {
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
			progressbar.OptionSetSpinnerChangeInterval(0), // it would draw by itself, also into a row of the table
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetElapsedTime(false), // it would count from the first drawing
			progressbar.OptionSetPredictTime(false),
		)
	}
	p.bar.Describe(fmt.Sprintf("%s, %s", plural(p.whole, "conversation"), plural(p.messaged, "message")))
	at := p.done
	if p.total > 0 { // the bar finishes itself when it is full
		at = min(at, p.total-1)
	}
	_ = p.bar.Set64(at)
}

// beside runs write, which writes to the same terminal perhaps, with the bar out of its way.
func (p *progress) beside(write func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	return write()
}

// finish takes the bar away for good.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	p.w = nil
}
