package conversation

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// lines reads a file line by line into a buffer that it reuses.
type lines struct {
	from   io.Reader
	in     *bufio.Reader // nil before the first line
	buf    []byte
	number int   // of the last line, from 1
	packed bool  // the data is compressed
	done   error // next returns it from now on
}

// keep is the largest buffer, in bytes, that is kept for the next line.
const keep = 4 << 20

// next returns the next line without its end, valid until the next call. It skips a line of more
// than limit bytes and returns an *Error for it. Damaged gzip data gives an *Error and then io.EOF.
// io.EOF and errors of the underlying reader repeat.
func (l *lines) next(limit int) ([]byte, error) {
	if l.done != nil {
		return nil, l.done
	}
	if l.in == nil {
		if err := l.open(); err != nil {
			return nil, l.end(err)
		}
	}
	if cap(l.buf) > keep {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	l.number++
	begun, tooLong := false, false
	for ended := false; !ended; {
		piece, err := l.in.ReadSlice('\n')
		begun = begun || len(piece) > 0
		if tooLong = tooLong || len(l.buf)+len(piece) > limit+len("\r\n"); tooLong {
			l.buf = nil
		} else {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case err == nil, err == io.EOF && begun:
			ended = true
		case err != bufio.ErrBufferFull:
			return nil, l.end(err)
		}
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
	if tooLong || len(line) > limit {
		l.buf = nil
		return nil, &Error{Line: l.number, Column: limit + 1, Message: -1,
			Problem: fmt.Sprintf("the line is longer than %d bytes; expected one conversation or event on a line", limit)}
	}
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line, nil
}

// open unpacks the data if it is compressed.
func (l *lines) open() error {
	l.in = bufio.NewReaderSize(l.from, 64<<10)
	if magic, _ := l.in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return nil
	}
	l.packed = true
	unpacked, err := gzip.NewReader(l.in)
	if err != nil {
		return err
	}
	l.in = bufio.NewReaderSize(unpacked, 64<<10)
	return nil
}

// end makes err the end of the file, and returns the error to report for it.
func (l *lines) end(err error) error {
	l.done = err
	if !l.packed || !damaged(err) {
		return err
	}
	l.done = io.EOF
	return &Error{Line: l.number, Message: -1, Problem: fmt.Sprintf("the gzip data is damaged or cut off here (%v); the lines before it were read", err)}
}

func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt)
}
