package terms

// Weighted is a term of a query, and how much it counts.
type Weighted struct {
	Term   string
	Weight float64
	// Own is set for a word of the query itself, unless it is of another language and its meanings follow:
	// an English word that is spelled like it means something else.
	Own bool
}

// How much a term counts that the query does not have. A translation counts like the word itself. Another
// English word of the same meaning counts less, or it would hide what the query says.
const (
	weightTranslation = 1.0
	weightSynonym     = 0.4
)

// Query returns the terms of a query, each once: first those of the text, in their order, then the English
// terms that mean the same. The words behind it are frequent ones of eleven languages: see words.txt. It is
// for queries only. Texts that are indexed keep to what they say.
func Query(text string) []Weighted {
	q := query{index: map[string]int{}}
	for _, term := range Terms(text) {
		q.add(term, 1)
	}
	for i := range q.terms {
		q.terms[i].Own = true
	}
	for _, word := range vocabulary().each(text, q.addMeaning) {
		if i, found := q.index[stem(word)]; found {
			q.terms[i].Own = false
		}
	}
	return q.terms
}

type query struct {
	terms []Weighted
	index map[string]int
}

// add adds a term, or raises its weight.
func (q *query) add(term string, weight float64) {
	if i, found := q.index[term]; found {
		q.terms[i].Weight = max(q.terms[i].Weight, weight)
		return
	}
	q.index[term] = len(q.terms)
	q.terms = append(q.terms, Weighted{Term: term, Weight: weight})
}

// addMeaning adds the English terms of a meaning. The first counts most.
func (q *query) addMeaning(m *meaning, weight float64) {
	for _, term := range m.first {
		q.add(term, weight)
	}
	for _, term := range m.others {
		q.add(term, min(weight, weightSynonym))
	}
}
