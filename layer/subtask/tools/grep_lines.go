package tools

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// marker writes the matches of one file, each with the lines around it, and no line twice.
type marker struct {
	search *search
	name   string
	before []passed // the newest lines that were not shown
	after  int      // lines still to show behind a match
	last   int      // the number of the last line shown
}

type passed struct {
	number int
	text   string
}

// match shows a line that matches at a byte.
func (m *marker) match(number int, text []byte, at int) error {
	s := m.search
	first := number
	if len(m.before) > 0 {
		first = m.before[0].number
	}
	if s.context > 0 && s.text.Len() > 0 && (m.last == 0 || first > m.last+1) {
		if err := m.put("--\n"); err != nil {
			return err
		}
	}
	for _, p := range m.before {
		if err := m.put(fmt.Sprintf("%s-%d-%s\n", m.name, p.number, p.text)); err != nil {
			return err
		}
	}
	if err := m.put(fmt.Sprintf("%s:%d:%s\n", m.name, number, around(text, at))); err != nil {
		return err
	}
	if m.last == 0 {
		s.found++
	}
	s.count++
	m.before, m.after, m.last = m.before[:0], s.context, number
	return nil
}

// pass takes a line that does not match.
func (m *marker) pass(number int, text []byte) {
	s := m.search
	switch {
	case s.context == 0 || s.args.FilesOnly:
	case m.after > 0:
		m.after--
		if m.put(fmt.Sprintf("%s-%d-%s\n", m.name, number, around(text, 0))) == nil {
			m.last = number
		}
	default:
		if len(m.before) == s.context {
			m.before = append(m.before[:0], m.before[1:]...)
		}
		m.before = append(m.before, passed{number, around(text, 0)})
	}
}

// put adds to the result, unless it would be too long.
func (m *marker) put(text string) error {
	s := m.search
	if s.text.Len()+len(text) > s.files.cfg.ResultBytes {
		s.more = true
		return errEnough
	}
	s.text.WriteString(text)
	return nil
}

// around is a line, or the part of a long one where it matches.
func around(text []byte, at int) string {
	from, to := 0, len(text)
	if len(text) > maxShown {
		from = max(0, min(at-maxShown/4, len(text)-maxShown))
		to = from + maxShown
		for from > 0 && !utf8.RuneStart(text[from]) && at-from < maxShown {
			from--
		}
		for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
			to--
		}
	}
	shown, _ := legible(bytes.TrimRight(text[from:to], "\r"))
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(text) {
		shown += "…"
	}
	return shown
}
