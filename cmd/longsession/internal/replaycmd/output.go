package replaycmd

import (
	"io"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// output is the destination of a report. It refuses all writes after one that failed, for example
// because the reader of a pipe is gone.
type output struct {
	to  io.Writer
	err error // of the failed write
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.err = exit.Failed("the report could not be written: %w", err)
	}
	return n, o.err
}
