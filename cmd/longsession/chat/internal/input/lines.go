package input

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// maxLine is how many bytes a line may have. A longer one is a mistake: a binary file, for example.
const maxLine = 16 << 20

// ErrTooLong is the error of a line of more than 16 MiB.
var ErrTooLong = errors.New("a line has more than 16 MiB: send a file in parts, or its name")

// lines reads one message a line.
type lines struct {
	next chan line
	err  error // of the last line
}

type line struct {
	text string
	err  error
}

// Lines returns a reader of messages that are lines of r, as from a pipe. It shows no prompt. They may have bytes
// that are not UTF-8. Empty lines are skipped. A Read that is canceled loses nothing: the next one returns that line.
func Lines(r io.Reader) Reader {
	l := &lines{next: make(chan line)}
	go func() {
		defer close(l.next)
		buffered := bufio.NewReaderSize(r, 64<<10)
		for {
			text, err := readLine(buffered)
			if text != "" {
				l.next <- line{text: text}
			}
			if err != nil {
				l.next <- line{err: err}
				return
			}
		}
	}()
	return l
}

// readLine returns one line without its end. At the end of the input it returns what there is, and [io.EOF].
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		if b.Len()+len(part) > maxLine {
			return "", ErrTooLong
		}
		b.Write(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		text := strings.TrimRight(b.String(), "\r\n")
		if strings.TrimSpace(text) == "" {
			text = ""
		}
		return text, err
	}
}

func (l *lines) Read(ctx context.Context, _ string) (string, error) {
	if l.err != nil {
		return "", l.err
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got, ok := <-l.next:
		if !ok {
			got.err = io.EOF
		}
		l.err = got.err
		return got.text, got.err
	}
}

func (l *lines) Ask(ctx context.Context, question string) (string, error) {
	return l.Read(ctx, question)
}

// Close does nothing: the goroutine ends with its input.
func (l *lines) Close() error { return nil }
