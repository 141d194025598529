package replaycmd

import (
	"io"
	"sync/atomic"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// progress shows how far a replay is: a bar of the input that was read, and the number of
// conversations and messages that were played. It is safe for concurrent use.
type progress struct {
	*terminal.Progress
	conversations, messages atomic.Int64
}

// newProgress returns a progress over inputs, which shows nothing if quiet.
func newProgress(w io.Writer, inputs []input, quiet bool) *progress {
	total := int64(0)
	for _, in := range inputs {
		if in.bytes == 0 { // unknown
			total = -1
			break
		}
		total += in.bytes
	}
	if quiet {
		w = io.Discard
	}
	return &progress{Progress: terminal.NewProgress(w, total)}
}

// played adds messages that were played.
func (p *progress) played(messages int) {
	p.messages.Add(int64(messages))
	p.Advance(0, p.describe)
}

// reported adds a conversation that was reported, and the bytes of input that it took.
func (p *progress) reported(bytes int64) {
	p.conversations.Add(1)
	p.Advance(bytes, p.describe)
}

// skipped adds bytes of input that were passed over.
func (p *progress) skipped(bytes int64) { p.Advance(bytes, p.describe) }

func (p *progress) describe() string {
	return terminal.Plural(p.conversations.Load(), "conversation") + ", " + terminal.Plural(p.messages.Load(), "message")
}
