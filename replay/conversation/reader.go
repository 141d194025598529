package conversation

import (
	"errors"
	"fmt"
	"io"
)

// maxLine is the default of [Reader.MaxLine], in bytes: 256 MiB.
const maxLine = 256 << 20

// Reader reads conversations one after the other, in any of the forms that the package comment
// describes. It holds one conversation in memory at a time, however large the file is. A transcript
// or a list counts as one. A Reader is for one goroutine.
type Reader struct {
	// MaxLine limits the length of a line in bytes, and the length of all lines of a conversation
	// that has one event on each. [NewReader] sets it to 256 MiB. Set it before the first Next.
	MaxLine int

	lines   lines
	name    string
	current line
	// again means that advance must return the current line once more: it ended a run of lines.
	again bool
	// session is the session of the current run of lines. lost means that a line of the run is
	// broken, so Next skips the other lines of that session.
	session string
	lost    bool
	seen    bool // a line that is not blank was read
	// ready has conversations that were read and not returned yet.
	ready []ready
	// held is a line that was read ahead, nil if there is none.
	held []byte
	// starts has the offsets at which the lines of the current value begin, nil if it takes one
	// line.
	starts []int
}

// ready is a conversation, or the error that it gave.
type ready struct {
	c   *Conversation
	err error
}

// line is a JSON value of the file. Its fields are set if it is an object.
type line struct {
	value
	fields object
	err    error
	number int // of its first line
}

// NewReader returns a reader of r, which may be compressed with gzip. Errors and
// [Conversation.File] have the name.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{MaxLine: maxLine, lines: lines{from: r}, name: name}
}

// Next returns the next conversation. After the last one it returns io.EOF. An error of type
// *[Error] concerns one conversation, or one line, and the next call continues after it. Any other
// error comes from the reader, and Next returns it from then on.
func (r *Reader) Next() (*Conversation, error) {
	for {
		if len(r.ready) > 0 {
			next := r.ready[0]
			r.ready = r.ready[1:]
			return next.c, next.err
		}
		if err := r.advance(); err != nil {
			return nil, err
		}
		switch {
		case r.current.err != nil:
			return nil, inConversation(r.located(r.current.err), r.name, r.current.number, "")
		case isClaude(r.current.fields):
			if r.lost && r.sameSession() {
				continue
			}
			r.lost = false
			if err := r.readTranscript(); err != nil {
				return nil, err
			}
			continue
		case isEvent(r.current.fields):
			if r.lost && r.sameSession() {
				continue
			}
			r.lost = false
			return r.readRun()
		}
		r.lost = false
		if list := conversationsIn(r.current.value); list != nil {
			r.readList(list)
			continue
		}
		return r.readWhole()
	}
}

// advance moves to the next value. A broken one has its error in r.current. Next returns the errors
// of advance unchanged.
func (r *Reader) advance() error {
	if r.again {
		r.again = false
		return nil
	}
	for {
		text, err := r.nextLine()
		var broken *Error
		switch {
		case errors.As(err, &broken):
			r.seen = true
			r.current = line{err: err, number: r.lines.number}
			return nil
		case err == io.EOF && !r.seen:
			r.seen = true
			return &Error{File: r.name, Message: -1, Problem: "the file is empty; expected a conversation on each line"}
		case err == io.EOF:
			return err
		case err != nil:
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if len(trimmed(text, 0).json) == 0 {
			continue
		}
		r.seen = true
		r.starts = nil
		number := r.lines.number
		text, err = r.document(text)
		switch {
		case errors.As(err, &broken):
			r.current = line{err: err}
		case err != nil:
			return fmt.Errorf("%s: %w", r.name, err)
		default:
			r.current = newLine(text)
		}
		r.current.number = number
		return nil
	}
}

// nextLine returns the held line, or reads the next one.
func (r *Reader) nextLine() ([]byte, error) {
	if held := r.held; held != nil {
		r.held = nil
		return held, nil
	}
	return r.lines.next(r.MaxLine)
}

func newLine(text []byte) line {
	v, err := parse(text)
	if err != nil {
		return line{err: err}
	}
	if !v.is('{') {
		if !v.is('[') {
			err = v.fail("the line is %s; %s", v.kind(), forms)
		}
		return line{value: v, err: err}
	}
	fields, err := v.object("the line")
	return line{value: v, fields: fields, err: err}
}

// readWhole reads a conversation that is the whole current value.
func (r *Reader) readWhole() (*Conversation, error) {
	rec, err := readLine(r.current.value, r.current.fields)
	return r.finish(rec, err, r.current.number)
}

// readList reads a list of conversations.
func (r *Reader) readList(list []value) {
	for i, v := range list {
		fields, err := v.object(element("the line", i))
		rec := &recording{}
		if err == nil {
			rec, err = readLine(v, fields)
		}
		if rec.id == "" {
			rec.id = fmt.Sprintf("%s:%d[%d]", r.name, r.current.number, i)
		}
		c, err := r.finish(rec, err, r.current.number)
		r.ready = append(r.ready, ready{c, err})
	}
}

// readRun reads a conversation that has one event on each line, beginning with the current one. If
// a line cannot be read, the whole conversation is lost, because the rest would look complete.
func (r *Reader) readRun() (*Conversation, error) {
	rec := &recording{}
	events := run{
		tooLong: "the event lines up to here are longer than %d bytes; expected a shorter conversation",
		read:    rec.readEvent,
		follows: func() bool { return isEvent(r.current.fields) && r.sameSession() },
	}
	first, lost, err := r.readRunOf(events)
	if err != nil && !lost {
		return nil, err
	}
	rec.id = r.session
	if rec.id == "" && err == nil {
		rec.id = r.name
	}
	return r.finish(rec, err, first)
}

// readTranscript reads the conversations of a Claude Code transcript that begins with the current
// line. If a line cannot be read, all of them are lost, because the rest would look complete. Next
// returns the errors of readTranscript unchanged.
func (r *Reader) readTranscript() error {
	t := &transcript{}
	first, lost, err := r.readRunOf(run{
		tooLong: "the lines up to here are longer than %d bytes; expected a shorter transcript",
		read:    t.read,
		follows: func() bool { return isClaude(r.current.fields) },
	})
	switch {
	case lost:
		_, err = r.finish(&recording{id: r.session}, err, first)
		r.ready = append(r.ready, ready{nil, err})
		return nil
	case err != nil:
		return err
	}
	for _, rec := range t.recordings(r.session, first) {
		c, err := r.finish(rec.recording, nil, rec.line)
		r.ready = append(r.ready, ready{c, err})
	}
	return nil
}

// run is how to read a conversation, or several, from consecutive lines.
type run struct {
	// tooLong is the error for a run above Reader.MaxLine. It is a format with the limit as its
	// argument.
	tooLong string
	// read reads the fields of one line.
	read func(fields object, at place) error
	// follows reports whether the current line belongs to the run too.
	follows func() bool
}

// readRunOf reads the current line and the following lines of its run, and returns the number of
// the first. If a line cannot be read, lost is true and the error has its place. Next returns all
// other errors unchanged. For example, of three event lines of the sessions a, a and b, it reads
// two and leaves the third for the next call.
func (r *Reader) readRunOf(what run) (first int, lost bool, err error) {
	first, size := r.current.number, 0
	r.session = ""
	for index := 0; ; index++ {
		where := place{index: index, line: r.current.number, column: 1}
		size += len(r.current.json)
		err := r.current.err
		if err == nil && size > r.MaxLine {
			err = errorAt(0, what.tooLong, r.MaxLine)
		}
		if err == nil {
			err = r.nameSession()
		}
		if err == nil {
			err = what.read(r.current.fields, where)
		}
		if err != nil {
			r.lost = true
			return first, true, inMessage(err, where)
		}
		switch err := r.advance(); {
		case err == io.EOF:
			return first, false, nil
		case err != nil:
			return first, false, err
		case r.current.err == nil && !what.follows():
			r.again = true
			return first, false, nil
		}
	}
}

// nameSession takes the session of a run from its first line that has one.
func (r *Reader) nameSession() error {
	id, err := name(r.current.fields["sessionid"])
	if r.session == "" {
		r.session = id
	}
	return err
}

// sameSession reports whether the current line can belong to the session of the run.
func (r *Reader) sameSession() bool {
	id, err := name(r.current.fields["sessionid"])
	return err != nil || id == "" || r.session == "" || id == r.session
}

// finish converts a recording, or completes the error that reading it gave. number is the line for
// both.
func (r *Reader) finish(rec *recording, err error, number int) (*Conversation, error) {
	if rec.id == "" {
		rec.id = fmt.Sprintf("%s:%d", r.name, number)
	}
	var c *Conversation
	if err == nil {
		c, err = rec.conversation()
	}
	if err != nil {
		return nil, inConversation(r.located(err), r.name, number, rec.id)
	}
	c.File, c.Line = r.name, number
	return c, nil
}
