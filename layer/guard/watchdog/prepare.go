package watchdog

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/canonical"
)

// prepare returns the calls of a step with their hashes, in an order that does not depend on the step's.
// It appends them to buf.
func (s *Step) prepare(buf []Call) []Call {
	if s.prepared {
		return s.Calls
	}
	agent := maphash.String(seed, s.Agent)
	for _, c := range s.Calls {
		tool := mix(agent, maphash.String(seed, c.Tool))
		c.tool = tool
		c.call = mix(tool, maphash.String(seed, c.Args))
		result := uint64(0)
		if c.Result.Known {
			result = mix(1, c.Result.Hash)
		}
		c.like = mix(c.call, result)
		// Results of different calls are compared as they are: in a list of flights, the time is what was asked for.
		c.answer = mix(tool, cmp.Or(c.Result.whole, result))
		buf = append(buf, c)
	}
	if len(buf) > 1 {
		slices.SortFunc(buf, func(a, b Call) int {
			return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.call, b.call), cmp.Compare(a.like, b.like))
		})
	}
	return buf
}

// shown returns the name of a tool as notes and alerts show it: a model may call anything a tool.
func shown(tool string) string {
	const most = 64
	if tool == "" {
		return "a tool without a name"
	}
	if len(tool) > most {
		tool = canonicalText(tool[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '[' || r == ']' {
			return '?'
		}
		return r
	}, tool)
}

// canonicalText returns the beginning of a text that was cut, without half a character.
func canonicalText(s string) string {
	for len(s) > 0 {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return canonical.Text(s)
}
