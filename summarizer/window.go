package summarizer

import (
	"regexp"
	"strings"
)

// These constants define the minimum number of distinct words of a summary; see [Check]. For
// example, a window of 90 distinct words needs 3 (90 / 30), and one with 20 concrete values needs 2
// more (20 / 10) if the text keeps none of them.
const (
	wordsPerWord  = 30 // distinct words of the window per required word
	baseWords     = 6  // maximum for the length of the window
	valuesPerWord = 10 // concrete values of the window per additional word
	valueWords    = 4  // maximum for the values of the window
	mostWords     = baseWords + valueWords
	wordsPerValue = 4 // words that each kept value counts as
)

// window is the input of a summary as [Check] sees it. It computes its figures on demand, because
// most summaries are long enough for any window.
type window struct {
	req      Request
	values   map[uint64]bool // values of everything that a transcript shows
	measured bool
	words    int // distinct words of statements, counted up to the relevant limit
	rich     int // values of statements, counted up to the relevant limit
}

// keeps returns the number of concrete values of the window that occur in sentences.
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

// each visits every text in a transcript of the window, and the earlier summaries.
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

// telling returns the concrete values of a text, except single digits, which occur in every window.
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

// extraWords returns the number of words that a summary needs in addition to leastWords if it keeps
// no value.
func (w *window) extraWords() int {
	w.measure()
	return min(valueWords, w.rich/valuesPerWord)
}

// measure counts the words and values of statements. Arguments of tool calls do not count: one
// sentence can summarize a hundred equal calls.
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

// said reports whether the window contains a text word for word.
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
