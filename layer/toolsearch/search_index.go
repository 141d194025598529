package toolsearch

import (
	"math"
	"strings"

	"github.com/adk-go-ext/longsession/internal/terms"
)

// The parameters of BM25. Tools are described in a few words, so a second occurrence of a term and the
// length of a description say little. The ranking is flat around these values; the same two are the best for
// searching conversations.
const (
	bm25K1 = 0.9
	bm25B  = 0.4
)

// index finds tools by words. It is built once for a list of tools and never changes, so any number of
// goroutines may search it.
type index struct {
	entries  []entry
	docs     []document
	postings map[string][]posting
	byName   map[string]int // by the name as it is declared; the first of several
	average  float64        // length of a document
}

// document is what is known of one tool.
type document struct {
	words   []string // of the name
	key     string   // the same, joined
	compact string   // the same, without separators
	length  float64  // number of terms, weighted by field
}

// posting says how often a term occurs in one document, weighted by field.
type posting struct {
	doc       int
	frequency float64
}

// newIndex builds the index of some tools. Entries without a declaration cannot be found, and neither can
// those whose names no provider accepts for their length. It keeps the entries and changes none.
func newIndex(entries []entry) *index {
	ix := &index{entries: entries, docs: make([]document, len(entries)), postings: map[string][]posting{}, byName: map[string]int{}}
	var total float64
	for i, e := range entries {
		if e.decl == nil || len(e.decl.Name) > maxNameBytes {
			continue
		}
		if _, taken := ix.byName[e.decl.Name]; !taken {
			ix.byName[e.decl.Name] = i
		}
		words := terms.Words(e.decl.Name)
		doc := document{words: words, key: strings.Join(words, " "), compact: strings.Join(words, "")}
		frequencies := map[string]float64{}
		var order []string
		for _, field := range fieldsOf(e.decl) {
			for _, term := range terms.Terms(field.text) {
				if _, seen := frequencies[term]; !seen {
					order = append(order, term)
				}
				frequencies[term] += field.weight
				doc.length += field.weight
			}
		}
		for _, term := range order {
			ix.postings[term] = append(ix.postings[term], posting{doc: i, frequency: frequencies[term]})
		}
		ix.docs[i] = doc
		total += doc.length
	}
	ix.average = total / math.Max(1, float64(len(ix.byName)))
	return ix
}

// scores returns the BM25 score of each document that has one of the terms.
func (ix *index) scores(query []terms.Weighted) map[int]float64 {
	scores := map[int]float64{}
	n := float64(len(ix.docs))
	for _, q := range query {
		found := ix.postings[q.Term]
		idf := math.Log(1 + (n-float64(len(found))+0.5)/(float64(len(found))+0.5))
		for _, p := range found {
			norm := bm25K1 * (1 - bm25B + bm25B*ix.docs[p.doc].length/ix.average)
			scores[p.doc] += q.Weight * idf * p.frequency * (bm25K1 + 1) / (p.frequency + norm)
		}
	}
	return scores
}
