package wordsearch

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

// Saturated is BM25's factor of a term that occurs n times in an event of so many terms, where an event has average
// terms.
func Saturated(n, length int, average float64) float64 { return saturated(n, length, average) }

// Common reports whether a term that so many of all events have finds too much to choose events by it.
func Common(have, events int) bool { return float64(have) > commonShare*float64(events) }

// EnoughRare is how many terms that are not [Common] suffice to choose events.
const EnoughRare = minRare
