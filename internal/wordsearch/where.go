package wordsearch

import (
	"slices"
	"strings"
	"unicode"

	"github.com/adk-go-ext/longsession/internal/terms"
)

// nearby is how many bytes of a text are looked at together.
const nearby = 600

// First returns where the part of a text begins that has most of the question's different terms, as a position in
// bytes: 0 if it has none.
func (q Question) First(text string) int {
	type match struct{ at, term int }
	var matches []match
	begin := -1
	for i, r := range text + " " {
		if !unicode.IsSpace(r) {
			if begin < 0 {
				begin = i
			}
			continue
		}
		if begin < 0 {
			continue
		}
		word := text[begin:i]
		for _, term := range terms.Terms(word) {
			if k := slices.Index(q.Terms, term); k >= 0 {
				// A word of Chinese is a whole sentence.
				matches = append(matches, match{begin + max(0, strings.Index(word, term)), k})
			}
		}
		begin = -1
	}
	best, most := 0, 0
	seen := make([]int, len(q.Terms)) // the round in which a term was counted
	for i, m := range matches {
		n := 0
		for _, next := range matches[i:] {
			if next.at > m.at+nearby {
				break
			}
			if seen[next.term] != i+1 {
				seen[next.term], n = i+1, n+1
			}
		}
		if n > most {
			best, most = m.at, n
		}
	}
	return best
}
