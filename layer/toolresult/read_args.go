package toolresult

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/internal/pattern"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// argumentError is a problem of a call's arguments that shows only once the result is open.
type argumentError string

func (e argumentError) Error() string { return string(e) }

// readArgs are the arguments of a call.
type readArgs struct {
	ref           string
	offset, limit int64 // limit 0: the default
	grep          *pattern.Expression
	lines         *lineRange
	field         string
}

// key identifies the place that a call reads. Calls that differ in their limit alone have equal keys.
func (a readArgs) key() string {
	grep, lines := "", lineRange{}
	if a.grep != nil {
		grep = a.grep.String()
	}
	if a.lines != nil {
		lines = *a.lines
	}
	return fmt.Sprintf("%s %d %v %q %q", a.ref, a.offset, lines, a.field, grep)
}

// lineRange is a range of lines, counted from 1. last 0 means the end. If tail is set, it is the last
// so many lines instead.
type lineRange struct{ first, last, tail int64 }

const (
	maxPattern = 1_000   // bytes
	maxExact   = 1 << 53 // the largest integer up to which float64, JSON's number, has them all
)

// parseReadArgs returns the arguments, or a text that describes their problems.
func parseReadArgs(args map[string]any) (out readArgs, problem string) {
	var problems []string
	complain := func(format string, a ...any) { problems = append(problems, fmt.Sprintf(format, a...)) }
	str := func(key string) string {
		switch v := args[key].(type) {
		case nil:
			return ""
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case int:
			return strconv.Itoa(v)
		default:
			complain("%s must be a text.", key)
			return ""
		}
	}
	whole := func(key string) int64 {
		n, ok := wholeNumber(args[key])
		if !ok {
			complain("%s must be a whole number of bytes, 0 or more.", key)
		}
		return n
	}
	out = readArgs{ref: strings.TrimSpace(str(refKey)), offset: whole("offset"), limit: whole("limit"), field: str("field")}
	if text := str("grep"); len(text) > maxPattern {
		complain("grep is longer than %d bytes: use a shorter pattern.", maxPattern)
	} else if text != "" {
		compiled, err := pattern.Compile(text)
		switch {
		case errors.Is(err, pattern.ErrTooLong):
			complain("grep %v.", err)
		case err != nil:
			complain("grep is not a regular expression that RE2 accepts (%v).", err)
		}
		out.grep = compiled
	}
	if lines := strings.TrimSpace(str("lines")); lines != "" {
		parsed, ok := parseLines(lines)
		if !ok {
			complain(`lines must be such as "120-180", "120", "120-" or "-50", counted from 1.`)
		}
		if out.offset > 0 {
			complain("offset and lines contradict each other: give one of them.")
		}
		out.lines = &parsed
	}
	if len(problems) > 0 {
		return readArgs{}, strings.Join(problems, " ")
	}
	if !store.IsRef(out.ref) {
		return readArgs{}, store.ErrUnknownRef.Error()
	}
	return out, ""
}

// wholeNumber reads a number as JSON, Go code or a careless model may give it.
func wholeNumber(v any) (int64, bool) {
	var f float64
	switch v := v.(type) {
	case nil:
		return 0, true
	case int:
		f = float64(v)
	case int32:
		f = float64(v)
	case int64:
		f = float64(v)
	case float64:
		f = v
	case json.Number:
		return wholeNumber(v.String())
	case string:
		var err error
		if f, err = strconv.ParseFloat(strings.TrimSpace(v), 64); err != nil {
			return 0, strings.TrimSpace(v) == ""
		}
	default:
		return 0, false
	}
	if !(f >= 0) || f != math.Trunc(f) {
		return 0, false
	}
	return int64(min(f, maxExact)), true
}

func parseLines(s string) (lineRange, bool) {
	number := func(s string) int64 {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil || n < 1 {
			return 0
		}
		return n
	}
	from, to, isRange := strings.Cut(s, "-")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	first, last := number(from), number(to)
	switch {
	case !isRange:
		return lineRange{first: first, last: first}, first > 0
	case from == "":
		return lineRange{tail: last}, last > 0
	case to == "":
		return lineRange{first: first}, first > 0
	}
	return lineRange{first: first, last: last}, first > 0 && last >= first
}
