package cli

import "io"

// output is where a report goes. After a write that failed, as to a pipe that nobody reads any more, it
// takes no more.
type output struct {
	to  io.Writer
	err error // of that write
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.err = failed("the report could not be written: %w", err)
	}
	return n, o.err
}
