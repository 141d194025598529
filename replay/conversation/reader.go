package conversation

import (
	"errors"
	"fmt"
	"io"
)

// MaxLine is the default of [Reader.MaxLine], in bytes: 256 MiB.
const MaxLine = 256 << 20

// Reader reads conversations from a file, one after the other, in any of the forms that the package
// comment describes. It holds one conversation in memory at a time, whatever the size of the file. It is
// for one goroutine.
type Reader struct {
	// MaxLine is the greatest length of a line, and of all lines of a conversation that has an event on
	// each, in bytes. To be set before the first Next.
	MaxLine int

	lines lines
	name  string
	// again reports that the current line is to be looked at once more: it ended a run of event lines.
	again   bool
	current line
	// lost is the session of event lines that are passed over because one of them is broken.
	lost    bool
	session string
	seen    bool // a line that is not blank was read
	// ready are conversations of lines that were read already.
	ready []ready
	// held is a line that was read and not looked at yet, nil for none.
	held []byte
	// starts has where each line of the current value begins, if it takes several.
	starts []int
}

// ready is a conversation that was read and not returned yet, or what is wrong with it.
type ready struct {
	c   *Conversation
	err error
}

// line is one that was read. Its fields are set if it is an object.
type line struct {
	value
	fields object
	err    error
	number int // of the first line, where it takes several
}

// NewReader returns a reader of r, which may be compressed by gzip. The name stands in errors and in
// [Conversation.File].
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{MaxLine: MaxLine, lines: lines{from: r}, name: name}
}

// Next returns the next conversation. After the last one the error is io.EOF. An error of type *[Error] is
// about one conversation, or the line that should be one, and the next call goes on with the next. Any
// other error comes from the reader, and Next returns it from then on.
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

// advance moves to the next line that is not blank. Errors are those that Next returns as they are.
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

// nextLine returns the line that is held, or reads the next one.
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

// readWhole reads the conversation that the current line is.
func (r *Reader) readWhole() (*Conversation, error) {
	rec, err := readLine(r.current.value, r.current.fields)
	return r.finish(rec, err, r.current.number)
}

// readList reads the conversations that are a list on the current line.
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

// readRun reads the conversation that begins with the current line: an event, with others on the lines
// behind it. One that cannot be read loses the conversation, since half of it would pass for all.
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

// readTranscript reads the conversations of a Claude Code transcript, which begins with the current line. A line that
// cannot be read loses them, since the rest would pass for all. Errors are those that Next returns as they are.
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

// run is how to read something that takes several lines.
type run struct {
	// tooLong is the error for lines that are too long together, a format for the limit.
	tooLong string
	// read takes in the fields of one line.
	read func(fields object, at place) error
	// follows reports whether the current line belongs to it, too.
	follows func() bool
}

// readRunOf reads the current line and those behind it that belong to it, and returns the number of the
// first. If a line cannot be read, all are lost, and the error says where; other errors are those that
// Next returns as they are.
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

// nameSession takes the name of the session from the first event that has one.
func (r *Reader) nameSession() error {
	id, err := name(r.current.fields["sessionid"])
	if r.session == "" {
		r.session = id
	}
	return err
}

// sameSession reports whether the current event may belong to the session that is being read.
func (r *Reader) sameSession() bool {
	id, err := name(r.current.fields["sessionid"])
	return err != nil || id == "" || r.session == "" || id == r.session
}

// finish makes a conversation of what was read, or completes the error.
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
