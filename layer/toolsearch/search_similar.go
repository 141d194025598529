package toolsearch

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/adk-go-ext/longsession/internal/terms"
)

// A word of a query that no tool has stands for similar ones that a tool has: longer ones that begin with it,
// as configuration does with config, or, if there are none, those with one letter more, less or other behind
// the first. Shorter words have too many neighbors.
const (
	minBeginning = 4
	minMisspelt  = 5
	// weightSimilar is how much such a word counts.
	weightSimilar = 0.5
	// maxSimilar is how many words one word may stand for. With more of them it is too vague, and stands for none.
	maxSimilar = 5
)

// known returns the terms of a query that the index has. Words of the query that it does not have are
// replaced by similar ones.
func (ix *index) known(query []terms.Weighted) []terms.Weighted {
	out := make([]terms.Weighted, 0, len(query))
	for _, q := range query {
		if ix.postings[q.Term] != nil {
			out = append(out, q)
			continue
		}
		if !q.Own {
			continue
		}
		for _, term := range ix.similar(q.Term) {
			if !slices.ContainsFunc(query, func(other terms.Weighted) bool { return other.Term == term }) {
				out = append(out, terms.Weighted{Term: term, Weight: q.Weight * weightSimilar})
			}
		}
	}
	return out
}

// similar returns the terms of the index that a term may stand for, sorted.
func (ix *index) similar(term string) []string {
	if len(term) < minBeginning || term[0] >= 0x80 {
		return nil
	}
	from, _ := slices.BinarySearch(ix.vocabulary, term)
	to := from
	for to < len(ix.vocabulary) && strings.HasPrefix(ix.vocabulary[to], term) {
		to++
	}
	switch n := to - from; {
	case n > maxSimilar:
		return nil
	case n > 0 || len(term) < minMisspelt:
		return ix.vocabulary[from:to]
	}
	var out []string
	first, _ := slices.BinarySearch(ix.vocabulary, term[:1])
	for _, other := range ix.vocabulary[first:] {
		if other[0] != term[0] {
			break
		}
		if d := len(other) - len(term); d >= -1 && d <= 1 && len(other) >= minMisspelt && levenshtein.ComputeDistance(term, other) == 1 {
			out = append(out, other)
		}
	}
	if len(out) > maxSimilar {
		return nil
	}
	return out
}
