package toolresult

import (
	"context"
	"io"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

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
	t := resultText{ctx: ctx, from: from, size: size}
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
func (r *readTool) readText(t resultText, key textKey, args readArgs) (answer, error) {
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
