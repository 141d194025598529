package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/internal/pattern"
)

const grepDescription = "Searches files for a regular expression (RE2: no lookaround, no backreferences), line by line. " +
	"Returns lines as path:number:text, with context also path-number-text. Binary files are skipped."

type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"the regular expression; it matches within one line"`
	Path       string `json:"path,omitempty" jsonschema:"the file or folder to search; left out for the root"`
	Glob       string `json:"glob,omitempty" jsonschema:"only files that match, such as *.go or docs/**/*.md"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	FilesOnly  bool   `json:"files_only,omitempty" jsonschema:"return only the paths of files with a match"`
	Context    int    `json:"context,omitempty" jsonschema:"lines to show before and after each match, up to 10"`
}

type grepResult struct {
	failure
	Matches string `json:"matches,omitempty"`
	Count   int    `json:"count,omitempty" jsonschema:"lines, or with files_only files, that match and are shown"`
	Files   int    `json:"files,omitempty" jsonschema:"files with a match"`
	More    bool   `json:"more,omitempty" jsonschema:"there may be more matches than are shown"`
	Note    string `json:"note,omitempty"`
}

const (
	maxExpression = 2_000 // bytes of a regular expression
	maxContext    = 10    // lines
	maxShown      = 400   // bytes of one line
)

// grep is the tool grep.
func (f *Files) grep(ctx context.Context, args grepArgs) (grepResult, error) {
	re, err := expression(args)
	if err != nil {
		return grepResult{}, err
	}
	if args.Glob != "" {
		if err := checkPattern(args.Glob); err != nil {
			return grepResult{}, err
		}
	}
	start, err := f.resolve(args.Path)
	if err != nil {
		return grepResult{}, err
	}
	s := &search{files: f, re: re, args: args, left: f.cfg.GrepBytes, context: min(args.Context, maxContext)}
	w := f.newWalk(func(name string) error {
		if !selects(args.Glob, start, name) {
			return nil
		}
		err := s.file(ctx, name)
		if err != nil && !errors.Is(err, errEnough) && ctx.Err() == nil {
			s.unreadable++ // or gone since the folder was read
			return nil
		}
		return err
	})
	if info, failed := f.root.Stat(start); failed == nil && !info.IsDir() {
		err = s.file(ctx, start)
	} else {
		err = w.run(ctx, start)
	}
	switch {
	case err == nil || errors.Is(err, errEnough):
		return s.result(w.notes()), nil
	case f.late(ctx):
		s.more = true
		return s.result(append(w.notes(), fmt.Sprintf("stopped after %v", f.cfg.Timeout))), nil
	}
	return grepResult{}, f.explain(ctx, start, err)
}

// expression compiles the pattern of a call.
func expression(args grepArgs) (*pattern.Expression, error) {
	switch {
	case args.Pattern == "":
		return nil, errors.New("pattern is missing")
	case len(args.Pattern) > maxExpression:
		return nil, fmt.Errorf("the pattern has %d bytes, and %d are allowed", len(args.Pattern), maxExpression)
	case args.Context < 0:
		return nil, fmt.Errorf("context is %d: it must not be negative", args.Context)
	}
	text := args.Pattern
	if args.IgnoreCase {
		text = "(?i)" + text
	}
	re, err := pattern.Compile(text)
	if errors.Is(err, pattern.ErrTooLong) {
		return nil, fmt.Errorf("the pattern %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression of RE2: %w; put a \\ before characters that are meant as they are", err)
	}
	return re, nil
}

// search is one call of grep.
type search struct {
	files   *Files
	re      *pattern.Expression
	args    grepArgs
	context int

	left                                 int64 // bytes that may still be read
	text                                 strings.Builder
	count, found                         int // shown matches, files with a match
	more                                 bool
	binary, unreadable, partly, tooLarge int
}

// file searches one file.
func (s *search) file(ctx context.Context, name string) error {
	if s.left <= 0 {
		s.more = true
		return errEnough
	}
	file, _, err := s.files.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	most := min(s.files.cfg.FileBytes, s.left)
	in, err := newLines(ctx, file, most, s.files.cfg.LineBytes)
	if errors.Is(err, errBinary) {
		s.binary++
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { s.left -= most - in.limited.N }()
	return s.lines(ctx, in, name)
}

// lines searches the lines of one file.
func (s *search) lines(ctx context.Context, in *lines, name string) error {
	m := marker{search: s, name: inLine(name)}
	for number := 1; ; number++ {
		l, err := in.next()
		if errors.Is(err, io.EOF) {
			if in.stopped() {
				s.tooLarge++
			}
			return nil
		}
		if err != nil {
			return err
		}
		if l.size > len(l.text) {
			s.partly++
		}
		at, err := s.re.Find(ctx, l.text)
		if err != nil {
			return err
		}
		if at == nil {
			m.pass(number, l.text)
			continue
		}
		if s.count == s.files.cfg.Matches {
			s.more = true
			return errEnough
		}
		if s.args.FilesOnly {
			s.found, s.count = s.found+1, s.count+1
			return m.put(m.name + "\n")
		}
		if err := m.match(number, l.text, at[0]); err != nil {
			return err
		}
	}
}

// result is what the model gets.
func (s *search) result(notes []string) grepResult {
	note := func(n int, format string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, n))
		}
	}
	if s.count == 0 {
		notes = append(notes, "no line matches")
	}
	if s.more {
		notes = append(notes, "there may be more matches: use a narrower pattern, path or glob")
	}
	if s.count == 0 && strings.Contains(s.args.Pattern, `\n`) {
		notes = append(notes, "a pattern matches within one line, so it never finds \\n")
	}
	note(s.binary, "%d binary files are skipped")
	note(s.unreadable, "%d files cannot be read")
	note(s.partly, "%d lines are too long and searched only in part")
	note(s.tooLarge, "%d files are too large and searched only in part")
	return grepResult{Matches: s.text.String(), Count: s.count, Files: s.found, More: s.more, Note: strings.Join(notes, "; ")}
}
