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
