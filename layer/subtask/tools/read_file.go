package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
)

const readFileDescription = "Reads a text file. Each line of the content begins with its number and a tab. " +
	"Long files come in parts: call it again with offset set to next_offset."

type readFileArgs struct {
	Path   string `json:"path" jsonschema:"the file, relative to the root"`
	Offset int    `json:"offset,omitempty" jsonschema:"the number of the first line to read, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines to read"`
}

type readFileResult struct {
	failure
	Path       string `json:"path,omitempty"`
	Content    string `json:"content,omitempty" jsonschema:"lines, each with its number and a tab in front"`
	FirstLine  int    `json:"first_line,omitempty"`
	LastLine   int    `json:"last_line,omitempty"`
	TotalLines int    `json:"total_lines,omitempty" jsonschema:"only if the end of the file was reached"`
	NextOffset int    `json:"next_offset,omitempty" jsonschema:"only if the file goes on"`
	Note       string `json:"note,omitempty"`
}

// readFile is the tool read_file.
func (f *Files) readFile(ctx context.Context, args readFileArgs) (readFileResult, error) {
	name, err := f.file(args.Path)
	switch {
	case err != nil:
		return readFileResult{}, err
	case args.Offset < 0:
		return readFileResult{}, fmt.Errorf("offset is %d: lines are counted from 1", args.Offset)
	case args.Limit < 0:
		return readFileResult{}, fmt.Errorf("limit is %d: it must be positive, or left out for %d lines", args.Limit, f.cfg.ReadLines)
	}
	file, before, err := f.open(name)
	if err != nil {
		return readFileResult{}, f.explain(ctx, name, err)
	}
	defer file.Close()
	in, err := newLines(ctx, file, f.cfg.FileBytes, f.cfg.LineBytes)
	if errors.Is(err, errBinary) {
		return readFileResult{}, fmt.Errorf("%s is a binary file of %d bytes (%s); only text is read", shown(name), before.Size(), http.DetectContentType(in.head))
	}
	if err != nil {
		return readFileResult{}, f.explain(ctx, name, err)
	}
	p := page{first: max(args.Offset, 1), lines: f.cfg.ReadLines, bytes: f.cfg.ResultBytes}
	if args.Limit > 0 {
		p.lines = min(args.Limit, p.lines)
	}
	if err := p.read(in); err != nil {
		return readFileResult{}, f.explain(ctx, name, err)
	}
	if err := p.missed(name, in, f.cfg.FileBytes); err != nil {
		return readFileResult{}, err
	}
	p.noteFile(in, file, before, f.cfg.FileBytes)
	return p.result(name), nil
}

// page is the part of a file that one call returns.
type page struct {
	first, lines, bytes int // what to return: the first line, and at most how much

	text  strings.Builder
	shown int  // lines in text
	seen  int  // lines read
	ended bool // at the end of the file
	notes []string

	crlf, garbled bool
}

// read fills the page, and looks whether the file goes on behind it.
func (p *page) read(in *lines) error {
	for {
		l, err := in.next()
		if errors.Is(err, io.EOF) {
			p.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		if p.seen+1 >= p.first && (p.shown == p.lines || !p.add(l)) {
			return nil
		}
		p.seen++
	}
}

// add puts a line into the page, unless it no longer fits. One that would not fit into any page is cut.
func (p *page) add(l line) bool {
	number := fmt.Sprintf("%d\t", p.seen+1)
	text, garbled := legible(l.text)
	if room := p.bytes - p.text.Len() - len(number) - 1; len(text) > room {
		if p.shown > 0 {
			return false
		}
		text = firstBytes(text, room)
	}
	if cut := l.size > len(l.text) || len(text) < len(l.text); cut {
		p.notes = append(p.notes, fmt.Sprintf("line %d is %d bytes long and is cut; search it with %s", p.seen+1, l.size, GrepName))
	}
	p.text.WriteString(number + text + "\n")
	p.shown++
	p.crlf, p.garbled = p.crlf || l.crlf, p.garbled || garbled
	return true
}

// missed explains why a page that begins behind the first line has no lines. It returns nil if the page is complete.
func (p *page) missed(name string, in *lines, most int64) error {
	switch {
	case p.shown > 0 || p.first == 1 || !p.ended:
		return nil
	case in.stopped():
		return fmt.Errorf("line %d of %s is behind the first %d bytes, which is as far as %s goes; search the file with %s", p.first, shown(name), most, ReadFileName, GrepName)
	case p.seen == 0:
		return fmt.Errorf("%s is empty", shown(name))
	}
	return fmt.Errorf("%s has %d lines; offset %d is behind the last one", shown(name), p.seen, p.first)
}

// noteFile adds what a reader of the page should know about the file.
func (p *page) noteFile(in *lines, file *os.File, before fs.FileInfo, most int64) {
	note := func(format string, args ...any) { p.notes = append(p.notes, fmt.Sprintf(format, args...)) }
	if p.ended && p.seen == 0 {
		note("the file is empty")
	}
	if p.ended && in.stopped() && before.Size() > most {
		note("only the first %d of %d bytes of the file are read", most, before.Size())
	}
	if in.encoding != "" {
		note("the file is in %s", in.encoding)
	}
	if p.crlf {
		note("lines end with CRLF")
	}
	if p.garbled {
		note("some bytes are not valid text and are shown as \uFFFD")
	}
	if after, err := file.Stat(); err == nil && (after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
		note("the file changed while it was read; read it again if that matters")
	}
}

func (p *page) result(name string) readFileResult {
	r := readFileResult{Path: name, Content: p.text.String(), Note: strings.Join(p.notes, "; ")}
	if p.shown > 0 {
		r.FirstLine, r.LastLine = p.first, p.first+p.shown-1
	}
	if p.ended {
		r.TotalLines = p.seen
	} else {
		r.NextOffset = p.first + p.shown
	}
	return r
}
