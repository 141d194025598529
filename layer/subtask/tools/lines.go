package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// errBinary is why the lines of a file are not read.
var errBinary = errors.New("it is a binary file")

// lines reads a text file line by line, within bounds: no line is held beyond its limit, and no file read
// beyond its own.
type lines struct {
	in       *bufio.Reader
	limited  *io.LimitedReader
	most     int    // bytes of a line
	head     []byte // of the file, for its type
	buf      []byte
	encoding string // "" for UTF-8
}

// line is one line without its end.
type line struct {
	text []byte // valid until the next call
	size int    // with what is left out of text
	crlf bool
}

// newLines looks at the head of a file. The error is errBinary for one that has no text.
func newLines(ctx context.Context, file io.Reader, mostBytes int64, mostLine int) (*lines, error) {
	limited := &io.LimitedReader{R: reader{ctx, file}, N: mostBytes}
	in := bufio.NewReaderSize(limited, 32<<10)
	head, err := in.Peek(8_000)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	l := &lines{in: in, limited: limited, most: mostLine, head: bytes.Clone(head)}
	wide := func(name string, order unicode.Endianness) {
		l.encoding = name
		l.in = bufio.NewReaderSize(unicode.UTF16(order, unicode.ExpectBOM).NewDecoder().Reader(in), 32<<10)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}): // UTF-32
		return l, errBinary
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		wide("UTF-16LE", unicode.LittleEndian)
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		wide("UTF-16BE", unicode.BigEndian)
	case bytes.IndexByte(head, 0) >= 0:
		return l, errBinary
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err := in.Discard(3)
		return l, err
	}
	return l, nil
}

// next returns the next line. The error is io.EOF behind the last one.
func (l *lines) next() (line, error) {
	l.buf = l.buf[:0]
	size, ended := 0, false
	for {
		part, err := l.in.ReadSlice('\n')
		size, ended = size+len(part), bytes.HasSuffix(part, []byte("\n"))
		l.buf = append(l.buf, part[:min(len(part), l.most+2-len(l.buf))]...) // 2 for the end of the line
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !(errors.Is(err, io.EOF) && size > 0):
			return line{}, err
		}
		break
	}
	text := l.buf
	if ended {
		text, size = bytes.TrimSuffix(text, []byte("\n")), size-1
	}
	crlf := ended && len(text) == size && bytes.HasSuffix(text, []byte("\r"))
	if crlf {
		text, size = text[:size-1], size-1
	}
	return line{text: text[:min(len(text), l.most)], size: size, crlf: crlf}, nil
}

// stopped reports whether the file goes on behind the limit. It is right after io.EOF.
func (l *lines) stopped() bool { return l.limited.N <= 0 }

// reader ends with its context.
type reader struct {
	ctx context.Context
	in  io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// legible returns text that a model may be sent, and whether it differs from the bytes.
func legible(text []byte) (string, bool) {
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return string(text), false
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD"), true
}

// firstBytes is the beginning of a text, without half a character at its end.
func firstBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	most = max(most, 0)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
