package wordsearch

import (
	"strings"
)

const (
	// maxQuery is how many bytes of a query are read, and maxQueryTerms how many different terms of it are looked
	// up. A question has a few words; a model that pastes a document as its query is answered as well.
	maxQuery      = 8 << 10
	maxQueryTerms = 64
	maxPairs      = 64 // a bit for each
)

// Question is a query, analyzed.
type Question struct {
	// Terms are the different terms of the query, in its order. A store looks these up.
	Terms []string
	// Dates are terms of dates that the query names, as [Terms] returns them with their mark. A store looks
	// these up, too.
	Dates []string
	// pairs are adjacent terms of the query, as positions in Terms.
	pairs [][2]int
}

// Ask analyzes the text of a query.
func Ask(text string) Question {
	text = strings.ToValidUTF8(cutText(text, maxQuery), " ")
	var q Question
	known, paired := map[string]int{}, map[[2]int]bool{}
	last := -1
	for _, term := range wordsOf(text) {
		i, found := known[term]
		if !found {
			if len(q.Terms) == maxQueryTerms {
				break
			}
			i = len(q.Terms)
			known[term] = i
			q.Terms = append(q.Terms, term)
		}
		if pair := [2]int{last, i}; last >= 0 && last != i && !paired[pair] && len(q.pairs) < maxPairs && isWord(term) && isWord(q.Terms[last]) {
			paired[pair] = true
			q.pairs = append(q.pairs, pair)
		}
		last = i
	}
	for _, date := range askedDates(text) {
		q.Dates = append(q.Dates, dateMark+date)
	}
	return q
}

// Empty reports whether there is nothing to look for.
func (q Question) Empty() bool { return len(q.Terms)+len(q.Dates) == 0 }

// isWord reports whether a term is a word of a script that has spaces. In others, terms are pairs of adjacent characters
// already, and those that are adjacent overlap.
func isWord(term string) bool {
	return !strings.ContainsFunc(term, func(r rune) bool { return r >= firstUnspaced })
}

// firstUnspaced is the first character of Thai. The scripts without spaces, and Korean, come behind it.
const firstUnspaced = '\u0E00'

// Weights returns what each term of a question is worth, and each date, in a first estimate of the score of an event.
// The estimate is the sum of a term's weight times [Saturated], plus the dates' weights.
func (q Question) Weights(corpus Corpus) (terms, dates []float64) {
	terms, dates = make([]float64, len(q.Terms)), make([]float64, len(q.Dates))
	for i := range terms {
		terms[i] = idf(corpus.Events, corpus.Frequency[i])
	}
	for i := range dates {
		dates[i] = weightDate * idf(corpus.Events, corpus.Dates[i])
	}
	return terms, dates
}
