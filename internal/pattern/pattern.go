// Package pattern searches for regular expressions that a model wrote. RE2 is linear in the text, but an expression of
// some hundred bytes can be thousands of steps long, and a megabyte times thousands of steps is minutes.
package pattern

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
)

const (
	// maxSteps is the longest expression that is compiled, in steps. One of ten times as many takes 130 MB.
	maxSteps = 5_000
	// longSearch is how many steps one search takes without a look at its context. A step takes about 12 ns,
	// so that is less than half a second.
	longSearch = 1 << 25
)

// ErrTooLong is why an expression is refused that regexp.Compile would take.
var ErrTooLong = errors.New("repeats too much")

// Expression is a compiled regular expression.
type Expression struct {
	*regexp.Regexp
	// Steps bounds how many steps a search takes for each letter of a text.
	Steps int
}

// Compile compiles an expression, as regexp.Compile does. It refuses one that may take more than 5,000 steps for each
// letter with an [ErrTooLong], before that costs anything.
func Compile(text string) (*Expression, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	n := steps(parsed)
	if n > maxSteps {
		return nil, fmt.Errorf("%w: it may take %d steps for each letter, and %d are allowed; use * or smaller numbers in braces", ErrTooLong, n, maxSteps)
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &Expression{compiled, n}, nil
}

// steps returns how long an expression is once its repetitions are written out.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Max, re.Min+1) // Max is -1 for no end
	}
	return n
}

// Find returns where a text matches first, as regexp.Regexp.FindIndex does. Its only error is that of a context that
// has ended, also in the midst of a long text.
func (e *Expression) Find(ctx context.Context, text []byte) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.Steps*len(text) < longSearch {
		return e.FindIndex(text), nil
	}
	in := letters{ctx: ctx, in: bytes.NewReader(text)}
	at := e.FindReaderIndex(&in)
	if in.err != nil {
		return nil, in.err // at is of the part that was read
	}
	return at, nil
}

// letters ends with its context.
type letters struct {
	ctx  context.Context
	in   *bytes.Reader
	read int
	err  error
}

func (l *letters) ReadRune() (rune, int, error) {
	if l.read++; l.read%64 == 0 && l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err != nil {
		return 0, 0, io.EOF
	}
	return l.in.ReadRune()
}
