package toolresult

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// ReadOptions configure [ReadResult]. The zero value is the defaults.
type ReadOptions struct {
	// Limit is how many bytes of a result one call returns if the model names no limit. 0 means
	// 4,096, or MaxLimit if that is less.
	Limit int
	// MaxLimit is the most bytes that one call returns, whatever limit the model asks for. The
	// returned piece is also at most this long as JSON, where a control character takes six bytes.
	// 0 means 16,384.
	MaxLimit int
	// Timeout bounds one call. When it is over the model is told that the result cannot be read at
	// the moment. 0 means 10 s. Off leaves the call to its context.
	Timeout time.Duration
	// Logger gets a warning when the source fails or panics, without content. If nil, slog.Default()
	// at that time is used.
	Logger *slog.Logger
}

// Defaults and bounds of ReadOptions. A piece of minReadLimit bytes has room for one match of grep with
// every byte escaped.
const (
	defaultReadLimit   = 4_096
	defaultReadMax     = 16_384
	defaultReadTimeout = 10 * time.Second
	minReadLimit       = 1_024
)

// ReadResult returns the tool read_result, by which a model reads whole results from src: piece by
// piece, by lines, or only the lines that match a pattern. The session that calls the tool can read its
// own results and no others; all other references get one and the same answer.
//
// Put the tool into every request with [Declare], or offer it as one of the agent's own tools. A call
// never fails: wrong arguments, unknown references and failures of the source are answered with a
// text under the key "error" that says what to do. The pieces of a result, joined, are the result
// byte for byte. The tool may be used by any number of agents and goroutines.
//
// The error names every option that is wrong, each as a [*ConfigError].
func ReadResult(src store.Source, opts ReadOptions) (tool.Tool, error) {
	var problems []error
	refuse := func(field string, value any, reason string) {
		problems = append(problems, &ConfigError{Field: field, Value: value, Reason: reason})
	}
	if adk.IsNil(src) {
		refuse("Source", src, "set a source, such as store.Events(sessions)")
	}
	for _, number := range []struct {
		field string
		n     int
	}{{"Limit", opts.Limit}, {"MaxLimit", opts.MaxLimit}} {
		if number.n != 0 && number.n < minReadLimit {
			refuse("ReadOptions."+number.field, number.n, fmt.Sprintf("use at least %d bytes, or 0 for the default", minReadLimit))
		}
	}
	r := &readTool{src: src, limit: opts.Limit, most: opts.MaxLimit, timeout: opts.Timeout, logger: opts.Logger}
	if r.most == 0 {
		r.most = defaultReadMax
	}
	if r.limit == 0 {
		r.limit = min(defaultReadLimit, r.most)
	}
	if len(problems) == 0 && r.limit > r.most {
		refuse("ReadOptions.Limit", r.limit, fmt.Sprintf("use at most MaxLimit, which is %d", r.most))
	}
	switch {
	case r.timeout == 0:
		r.timeout = defaultReadTimeout
	case r.timeout == Off:
		r.timeout = 0
	case r.timeout < 0:
		refuse("ReadOptions.Timeout", r.timeout, "use a positive duration, 0 for 10 s, or Off")
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("read_result: %w", errors.Join(problems...))
	}
	var err error
	if r.repeats, err = newRepeats(); err != nil {
		return nil, fmt.Errorf("read_result: %w", err)
	}
	if r.texts, err = newTexts(); err != nil {
		return nil, fmt.Errorf("read_result: %w", err)
	}
	r.parameters = readParameters(r.limit, r.most)
	return r, nil
}

// answer is what a call returns to the model.
type answer struct {
	content      string
	offset, next int64
	size         int64
	lines        int64 // -1: not counted
	done, hex    bool
	notes        []string
}

// read answers one call. Errors are the source's; a problem of the arguments is in the answer.
func (r *readTool) read(ctx context.Context, owner store.Owner, args readArgs) (answer, error) {
	from, size, err := r.src.Open(ctx, owner, args.ref)
	if err != nil {
		return answer{}, err
	}
	if closer, ok := from.(io.Closer); ok {
		defer closer.Close()
	}
	t := text{ctx: ctx, from: from, size: size}
	key := textKey{owner: owner, ref: args.ref}
	var notes []string
	if args.field != "" {
		var note string
		if t, note, err = r.texts.field(t, key, args.field); err != nil {
			return answer{}, err
		}
		if note != "" {
			notes = append(notes, note)
		} else {
			key.field = args.field
		}
	}
	a, err := r.readText(t, key, args)
	if err != nil {
		return answer{}, err
	}
	a.notes = append(notes, a.notes...)
	if r.repeats.tooMany(owner, args) {
		a.notes = append(a.notes, repeatNote)
	}
	return a, nil
}

// countUpTo is the size in bytes up to which every answer has the number of lines. Of larger results it
// is known once grep or lines has counted them: a piece of 100 MB should not cost 100 MB.
const countUpTo = 8 << 20

// readText answers a call from the text that it asks for.
func (r *readTool) readText(t text, key textKey, args readArgs) (answer, error) {
	byLine := args.lines != nil || args.grep != nil
	index, err := r.texts.index(t, key, byLine || t.size <= countUpTo)
	if err != nil {
		return answer{}, err
	}
	a := answer{offset: args.offset, size: t.size, lines: index.total()}
	end := t.size
	if args.lines != nil {
		if a.offset, end, err = index.bounds(t, *args.lines); err != nil {
			return answer{}, err
		}
	}
	limit := min(args.limit, int64(r.most))
	if limit == 0 {
		limit = int64(r.limit)
	}
	if args.grep != nil {
		return grep(t, index, a, end, args.grep, int(limit), r.most)
	}
	p, err := readPiece(t, a.offset, end, int(limit), r.most)
	if err != nil {
		return answer{}, err
	}
	a.content, a.offset, a.next, a.hex = p.content, p.offset, p.next, p.hex
	a.done = a.next >= end
	if a.hex {
		a.notes = append(a.notes, "This part is not text. content has its bytes as hexadecimal digits; offsets count bytes.")
	}
	return a, nil
}

// text is what a call reads from: a result, or one field of it.
type text struct {
	ctx  context.Context // of this call
	from io.ReaderAt
	size int64
}

// at reads the bytes from offset up to end, which are within the text.
func (t text) at(buf []byte, offset, end int64) ([]byte, error) {
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

// maxRepeats is how often the same piece is returned without a comment.
const maxRepeats = 5

const repeatNote = "This piece has been returned several times and never changes. Use it as it is, or read another one."

// repeats counts the reads of each piece, for the pieces that were read last. A model in a loop reads few
// pieces, so it is always among them.
type repeats struct{ reads *lru.Cache[repeatKey, int] }

type repeatKey struct {
	owner store.Owner
	what  string
}

func newRepeats() (repeats, error) {
	reads, err := lru.New[repeatKey, int](1_024)
	return repeats{reads}, err
}

// tooMany counts a read, and reports whether the same piece was read more than maxRepeats times.
func (c repeats) tooMany(owner store.Owner, args readArgs) bool {
	key := repeatKey{owner, args.key()}
	n, _ := c.reads.Get(key)
	c.reads.Add(key, min(n+1, maxRepeats+1))
	return n >= maxRepeats
}
