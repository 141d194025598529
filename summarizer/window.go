package summarizer

import (
	"regexp"
	"strings"
)

// The smallest number of different words that a summary must have, see [Check].
const (
	wordsPerWord  = 30 // words of the window for which the summary needs one
	baseWords     = 6  // the most that the window's length can require
	valuesPerWord = 10 // concrete values of the window for which the summary needs one word more
	valueWords    = 4  // the most that the window's values can require
	mostWords     = baseWords + valueWords
	wordsPerValue = 4 // words that a kept value counts as
)

// window is the input of a summary as [Check] sees it. It computes everything on demand, because an
// ordinary summary is long enough for any window.
type window struct {
	req      Request
	values   map[uint64]bool // of everything that a transcript shows
	measured bool
	words    int // different ones that were said, up to as many as matter
	rich     int // values that were said, up to as many as matter
}

// keeps returns how many concrete values of the window occur in sentences.
func (w *window) keeps(said ...string) int {
	kept := map[uint64]bool{}
	for _, s := range said {
		for _, v := range telling(s) {
			if w.holds(v) {
				kept[v] = true
			}
		}
	}
	return len(kept)
}

func (w *window) holds(value uint64) bool {
	if w.values == nil {
		w.values = map[uint64]bool{}
		w.each(func(text string) {
			for _, v := range telling(text) {
				w.values[v] = true
			}
		})
	}
	return w.values[value]
}

// each visits every text that a transcript of the window would show, and the earlier summaries.
func (w *window) each(visit func(text string)) {
	pieces := func(text string) {
		for s := range sentences(text) {
			visit(s)
		}
	}
	answered := answeredIn(w.req.Events)
	for _, ev := range w.req.Events {
		for _, l := range eventLines(ev, answered) {
			visit(l.prefix)
			pieces(l.value)
		}
	}
	for _, s := range w.req.Summaries {
		pieces(s)
	}
}

// telling returns the concrete values of a text, except single digits, which every window has.
func telling(text string) []uint64 {
	if strings.ContainsAny(text, "0123456789") {
		text = loneDigit.ReplaceAllString(text, " ")
	}
	return concreteValues(text)
}

var loneDigit = regexp.MustCompile(`(?:^|\s)[#(]?[0-9][.,;:)]*(?:\s|$)`)

func (w *window) leastWords() int {
	w.measure()
	return min(baseWords, max(1, w.words/wordsPerWord))
}

// extraWords is how many words more than leastWords a summary needs if it keeps no value.
func (w *window) extraWords() int {
	w.measure()
	return min(valueWords, w.rich/valuesPerWord)
}

// measure counts the words and values that were said. Arguments of tool calls do not count: a
// hundred equal calls can be summarized in one sentence.
func (w *window) measure() {
	if w.measured {
		return
	}
	w.measured = true
	words, values := newVocabulary(), map[uint64]bool{}
	add := func(text string) bool {
		for s := range sentences(text) {
			words.add(s)
			for _, v := range telling(s) {
				values[v] = true
			}
			if words.distinct() >= baseWords*wordsPerWord && len(values) >= valueWords*valuesPerWord {
				return false
			}
		}
		return true
	}
	defer func() { w.words, w.rich = words.distinct(), len(values) }()
	for _, ev := range w.req.Events {
		if ev == nil {
			continue
		}
		for _, s := range spoken(ev) {
			if !add(s.text) {
				return
			}
		}
	}
	for _, s := range w.req.Summaries {
		if !add(s) {
			return
		}
	}
}

// said reports whether a text occurs in the window word for word.
func (w *window) said(text string) bool {
	for _, ev := range w.req.Events {
		if ev == nil {
			continue
		}
		for _, s := range spoken(ev) {
			if strings.Contains(fold(s.text), text) {
				return true
			}
		}
	}
	for _, s := range w.req.Summaries {
		if strings.Contains(fold(s), text) {
			return true
		}
	}
	return false
}
