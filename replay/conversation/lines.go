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

// lines reads one line after the other into memory that it uses again.
type lines struct {
	from io.Reader
	in   *bufio.Reader // nil before the first line
	buf  []byte
	// number of the line that was read last, from 1.
	number int
	packed bool
	done   error // nothing comes after it
}

// keep is how much memory for a line is kept for the next one.
const keep = 4 << 20

// next returns the next line without its end. It is valid until the next call. A line of more than limit
// bytes is passed over, and an error of type *Error. After io.EOF, damaged gzip data (*Error, then io.EOF) and
// errors of the reader there are no more lines.
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

// open looks whether the data is compressed.
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

// end keeps the error after which nothing comes.
func (l *lines) end(err error) error {
	l.done = err
	if !l.packed || !damaged(err) {
		return err
	}
	l.done = io.EOF
	return &Error{Line: l.number, Message: -1, Problem: fmt.Sprintf("the gzip data is damaged or cut off here (%v); what stands before it was read", err)}
}

func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt)
}
