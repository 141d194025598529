package tools

import (
	"bytes"
	"context"
	"io"
	"regexp/syntax"
)

// longSearch is how many steps one line may take without a look at the context: well under a second.
const longSearch = 1 << 23

// steps returns the size of an expression: a search takes at most so many steps for each letter.
func steps(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0 // regexp.Compile has refused it
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// find returns where a line matches. The time is linear in the line, but a megabyte times thousands of steps is
// minutes: such a search ends with the context.
func (s *search) find(ctx context.Context, text []byte) ([]int, error) {
	if s.size*len(text) < longSearch {
		return s.re.FindIndex(text), nil
	}
	at := s.re.FindReaderIndex(&letters{ctx: ctx, in: bytes.NewReader(text)})
	return at, ctx.Err()
}

// letters ends with its context.
type letters struct {
	ctx  context.Context
	in   *bytes.Reader
	read int
}

func (l *letters) ReadRune() (rune, int, error) {
	if l.read++; l.read%64 == 0 && l.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return l.in.ReadRune()
}
