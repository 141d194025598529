package toolresult

import (
	"context"
	"fmt"
	"io"
)

// resultText is the text that a call reads: a result, or one field of it.
type resultText struct {
	ctx  context.Context // of this call
	from io.ReaderAt
	size int64
}

// at reads the bytes from offset up to end, which are within the text.
func (t resultText) at(buf []byte, offset, end int64) ([]byte, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	n := int(max(0, min(end, t.size)-offset))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if read, err := t.from.ReadAt(buf, offset); read < n {
		return nil, fmt.Errorf("read %d bytes at offset %d of %d, got %d: %v", n, offset, t.size, read, err)
	}
	return buf, nil
}

// textReader reads a text from its start.
type textReader struct {
	t      resultText
	offset int64
}

func (r *textReader) Read(p []byte) (int, error) {
	if r.offset >= r.t.size {
		return 0, io.EOF
	}
	got, err := r.t.at(p[:0:len(p)], r.offset, r.offset+int64(len(p)))
	if err != nil {
		return 0, err
	}
	r.offset += int64(len(got))
	return len(got), nil
}
