package toolsearch

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/terms"
)

const (
	// maxQueryBytes is how much of a query is read. A model writes a few words.
	maxQueryBytes = 4 << 10
	// maxQueryTerms is how many different terms of a query are looked up.
	maxQueryTerms = 64
	// maxName is the longest name of a tool that the Gemini API allows.
	maxName = 64
	// minFragment is how many letters a part of a name must have to be found inside of a word.
	minFragment = 4
)

// How a query matches a name, from the weakest to the strongest. A stronger match comes before a weaker one,
// whatever the words of the descriptions are.
type nameMatch int

const (
	noMatch  nameMatch = iota
	fragment           // the query is part of the name, such as screensh
	someOf             // adjacent words of the name, such as pull_request
	mention            // the name stands in the query, such as: use the tool create_issue
	exact              // the query is the name, but for case and separators
	spelled            // the query is the name, letter by letter
)

// hit is one tool that was found.
type hit struct {
	entry int
	match nameMatch
	score float64
}

// search returns the tools that match a query, best first, at most so many. Equal ones are in the order of the
// index. It is the same for the same query, always.
func (ix *index) search(query string, most int) []hit {
	query = beginning(query, maxQueryBytes)
	weighted := terms.Query(query)
	scores := ix.scores(weighted[:min(len(weighted), maxQueryTerms)])
	names := namesIn(query)
	named, isName := ix.byName[strings.TrimSpace(query)]
	var hits []hit
	for i, doc := range ix.docs {
		h := hit{entry: i, match: names.match(doc), score: scores[i]}
		if isName && i == named {
			h.match = spelled
		}
		if doc.key != "" && (h.match > noMatch || h.score > 0) {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.match, a.match), cmp.Compare(b.score, a.score))
	})
	return hits[:min(len(hits), most)]
}

// queryNames is what of a query may be a name, in words.
type queryNames struct {
	whole    []string
	compact  string
	mentions [][]string // tokens that have the form of a name
}

// maxWholeWords is how many words a query has that is a name or a part of one.
const maxWholeWords = 5

// namesIn takes a query apart.
func namesIn(query string) queryNames {
	var q queryNames
	if words := terms.Words(query); len(words) <= maxWholeWords {
		q.whole = words
		q.compact = strings.Join(words, "")
	}
	for token := range strings.FieldsSeq(query) {
		if words := terms.Words(token); len(words) > 1 && len(words) <= maxName && len(q.mentions) < maxQueryTerms {
			q.mentions = append(q.mentions, words)
		}
	}
	return q
}

// match returns the strongest match of a query with a name.
func (q queryNames) match(doc document) nameMatch {
	if len(q.whole) > 0 && slices.Equal(q.whole, doc.words) {
		return exact
	}
	best := noMatch
	for _, words := range q.mentions {
		switch {
		case slices.Equal(words, doc.words):
			return mention
		case contains(doc.words, words):
			best = someOf
		}
	}
	if best == noMatch && len(q.whole) > 0 {
		switch {
		case contains(doc.words, q.whole):
			best = someOf
		case len(q.compact) >= minFragment && strings.Contains(doc.compact, q.compact):
			best = fragment
		}
	}
	return best
}

// contains reports whether words has part as adjacent words.
func contains(words, part []string) bool {
	for i := 0; i+len(part) <= len(words); i++ {
		if slices.Equal(words[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// beginning returns the first bytes of a text, in whole characters.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
