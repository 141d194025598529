package toolresult

import (
	"cmp"
	"math"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// limits are checked Limits without zero fields. A limit that is off is [noLimit]. HeadLines and TailLines
// that are off are 0.
type limits Limits

// noLimit is more than any size, and small enough that a sum of two does not overflow.
const noLimit = math.MaxInt / 2

// unlimited measures a whole result.
var unlimited = limits{MaxBytes: noLimit - 1, MaxLines: noLimit, MaxTokens: noLimit, StubAbove: noLimit}

// The least values of limits: {} without a reference, and the shortest form with one.
const (
	minBytes, minReadableBytes   = 2, 64 // {} and a reference
	minTokens, minReadableTokens = 1, 32
)

// resolve checks limits and fills in zero fields, first from general and then from the defaults.
func (l Limits) resolve(prefix string, general Limits, readable bool) (limits, configerr.Problems) {
	problems := l.check(prefix, readable)
	given := l
	inherit := func(field *int, general, fallback int) {
		if *field = cmp.Or(*field, general, fallback); *field == Off {
			*field = noLimit
		}
	}
	inherit(&l.MaxBytes, general.MaxBytes, defaultMaxBytes)
	inherit(&l.MaxLines, general.MaxLines, defaultMaxLines)
	inherit(&l.MaxTokens, general.MaxTokens, defaultMaxTokens)
	l.Strategy = cmp.Or(l.Strategy, general.Strategy, Lines)
	if len(problems) > 0 {
		return limits{}, problems // the fields cannot be compared
	}
	problems = l.fillLines(prefix, given, general)
	if given.StubAbove != Off && given.StubAbove > l.MaxBytes {
		problems.Refuse(prefix+"StubAbove", given.StubAbove,
			"results over MaxBytes %d would be cut before they are large enough for a stub; lower it, raise MaxBytes, or set it to Off", l.MaxBytes)
	}
	inherit(&l.StubAbove, general.StubAbove, defaultStubAbove)
	if l.StubAbove != noLimit {
		l.StubAbove = min(l.StubAbove, l.MaxBytes)
	}
	return limits(l), problems
}

// fillLines sets HeadLines and TailLines, which must not exceed MaxLines together. If they would, inherited
// values and defaults shrink, and given values stay. For example, HeadLines 200 with MaxLines 256 leaves 56
// for TailLines.
func (l *Limits) fillLines(prefix string, given, general Limits) (p configerr.Problems) {
	l.HeadLines = max(0, cmp.Or(l.HeadLines, general.HeadLines, defaultHeadLines)) // Off is 0 lines
	l.TailLines = max(0, cmp.Or(l.TailLines, general.TailLines, defaultTailLines))
	switch {
	case l.HeadLines+l.TailLines == 0:
		p.Refuse(prefix+"HeadLines", Off, "with TailLines Off too, nothing of a long text would survive; give one of them")
	case l.HeadLines+l.TailLines <= l.MaxLines:
	case given.HeadLines != 0 && given.TailLines == 0 && l.HeadLines < l.MaxLines:
		l.TailLines = l.MaxLines - l.HeadLines
	case given.TailLines != 0 && given.HeadLines == 0 && l.TailLines < l.MaxLines:
		l.HeadLines = l.MaxLines - l.TailLines
	case given.HeadLines == 0 && given.TailLines == 0:
		head := share(l.MaxLines, l.HeadLines, l.HeadLines+l.TailLines)
		if head == 0 && l.HeadLines > 0 {
			head = 1
		}
		l.HeadLines, l.TailLines = head, l.MaxLines-head
	default:
		p.Refuse(prefix+"HeadLines", l.HeadLines,
			"with TailLines %d it exceeds MaxLines %d: a text would be longer after the cut than the limit allows; lower them or raise MaxLines", l.TailLines, l.MaxLines)
	}
	return p
}

// check refuses values that are wrong whatever the other fields are.
func (l Limits) check(prefix string, readable bool) (p configerr.Problems) {
	leastBytes, leastTokens := minBytes, minTokens
	if readable {
		leastBytes, leastTokens = minReadableBytes, minReadableTokens
	}
	for _, field := range []struct {
		name         string
		value, least int
	}{
		{"MaxBytes", l.MaxBytes, leastBytes},
		{"MaxLines", l.MaxLines, 1},
		{"HeadLines", l.HeadLines, 1},
		{"TailLines", l.TailLines, 1},
		{"MaxTokens", l.MaxTokens, leastTokens},
		{"StubAbove", l.StubAbove, 1},
	} {
		switch {
		case field.value == 0 || field.value == Off || field.value >= field.least:
		case field.value < 0:
			p.Refuse(prefix+field.name, field.value, "it must not be negative; 0 is the default, Off (%d) turns it off", Off)
		default:
			p.Refuse(prefix+field.name, field.value, "it must be at least %d, the size of the shortest form of a result", field.least)
		}
	}
	switch l.Strategy {
	case "", Lines, Head, Tail, Both:
	default:
		p.Refuse(prefix+"Strategy", l.Strategy, "it must be lines, head, tail or both")
	}
	return p
}
