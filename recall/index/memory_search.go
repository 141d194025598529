package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"google.golang.org/adk/session"
)

// search returns the best events. p is locked.
func (p *postings) search(events []*session.Event, query Query) []Hit {
	q := Ask(query.Text)
	if q.Empty() || len(p.docs) == 0 {
		return nil
	}
	s := searching{postings: p, q: q, events: events, query: query}
	s.lookUp()
	candidates, all := s.candidates(s.found(firstLook))
	if !all {
		candidates, _ = s.candidates(s.found(len(s.docs)))
	}
	ranked := Rank(q, s.corpus, candidates)
	hits := make([]Hit, 0, query.limit())
	for _, r := range ranked[:min(len(ranked), query.limit())] {
		hits = append(hits, s.hit(r))
	}
	return hits
}

// limit is how many hits to return.
func (q Query) limit() int { return cmp.Or(max(0, q.Limit), defaultLimit) }

// within reports whether an event may be returned.
func (q Query) within(ev *session.Event) bool {
	switch {
	case !q.From.IsZero() && ev.Timestamp.Before(q.From), !q.To.IsZero() && ev.Timestamp.After(q.To):
		return false
	}
	return q.May == nil || q.May(ev)
}

// searching is one search in one session.
type searching struct {
	*postings
	q      Question
	query  Query
	events []*session.Event
	ids    []int64 // of the question's terms, -1 for one that no event has
	corpus Corpus
}

// lookUp finds out what the ranking must know of the session.
func (s *searching) lookUp() {
	s.corpus = Corpus{Events: len(s.docs), Length: s.length, Episodes: s.episodes, Authors: s.authors}
	for _, term := range s.q.Terms {
		id, have := int64(-1), 0
		if known, found := s.postings.ids[term]; found {
			id, have = int64(known), s.lists[known].docs
		}
		s.ids = append(s.ids, id)
		s.corpus.Frequency = append(s.corpus.Frequency, have)
	}
	for _, date := range s.q.Dates {
		s.corpus.Dates = append(s.corpus.Dates, s.dates[date])
	}
}

// scored is a document and a first estimate of its score.
type scored struct {
	doc   int
	score float64
}

// firstLook is how many documents are looked at first. More are needed only where most of them may not be returned.
const firstLook = 2 * maxCandidates

// found returns the documents that have a term or a date of the question, by a first estimate of their scores, the
// best first, and at most so many. Sorting all that have some common word would take most of the time of a search.
func (s *searching) found(most int) []scored {
	scores := make([]float64, len(s.docs))
	average := max(1, float64(s.length)/float64(len(s.docs)))
	for _, i := range s.telling() {
		weight := idf(len(s.docs), s.corpus.Frequency[i])
		s.lists[s.ids[i]].each(func(doc, count int) {
			scores[doc] += weight * saturated(count, int(s.docs[doc].length), average)
		})
	}
	if days := s.askedDays(); days != nil {
		for doc, d := range s.docs {
			scores[doc] += days[d.day]
		}
	}
	var out []scored
	least := 0.0
	for doc, score := range scores {
		if score > least {
			out = append(out, scored{doc, score})
		}
		if len(out) >= 2*most {
			out = best(out, most)
			least = out[most-1].score
		}
	}
	return best(out, most)
}

func best(of []scored, most int) []scored {
	slices.SortFunc(of, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.doc - b.doc
	})
	return of[:min(len(of), most)]
}

// telling returns the positions of the terms by which documents are chosen: all that some document has, without
// common ones if enough others remain.
func (s *searching) telling() []int {
	var all, rare []int
	for i, id := range s.ids {
		if id < 0 {
			continue
		}
		all = append(all, i)
		if float64(s.corpus.Frequency[i]) <= commonShare*float64(len(s.docs)) {
			rare = append(rare, i)
		}
	}
	if len(rare) >= minRare {
		return rare
	}
	return all
}

// askedDays returns the weight of each day that has a date of the question, nil if the question has none.
func (s *searching) askedDays() map[int32]float64 {
	if len(s.q.Dates) == 0 {
		return nil
	}
	days := map[int32]float64{}
	for _, d := range s.docs {
		if _, known := days[d.day]; known || d.day == noDay {
			continue
		}
		days[d.day] = 0
		for _, date := range dateTerms(time.Unix(int64(d.day)*86400, 0)) {
			if i := slices.Index(s.q.Dates, dateMark+date); i >= 0 {
				days[d.day] += weightDate * idf(len(s.docs), s.corpus.Dates[i])
			}
		}
	}
	return days
}

// candidates returns the best of the documents found that may be returned, and whether no more can be had.
func (s *searching) candidates(found []scored) (out []Candidate, all bool) {
	enough := max(maxCandidates, 4*s.query.limit())
	for _, f := range found {
		d := s.docs[f.doc]
		if !s.query.within(s.events[d.position]) {
			continue
		}
		out = append(out, s.candidate(f.doc))
		if len(out) == enough {
			return out, true
		}
	}
	return out, len(found) < firstLook || len(found) == len(s.docs)
}

// candidate is [Question.Count] for a document.
func (s *searching) candidate(doc int) Candidate {
	d := s.docs[doc]
	c := Candidate{
		Position: int(d.position), Author: s.authors[min(int(d.author), len(s.authors)-1)], Asking: d.asking,
		Counts: make([]int, len(s.q.Terms)), Dates: make([]bool, len(s.q.Dates)),
	}
	end := len(s.sequence)
	if doc+1 < len(s.docs) {
		end = int(s.docs[doc+1].begin)
	}
	last := -1
	for data := s.sequence[d.begin:end]; len(data) > 0; c.Length++ {
		id, n := binary.Uvarint(data)
		data = data[n:]
		i := slices.Index(s.ids, int64(id))
		c.count(s.q, last, i)
		last = i
	}
	if d.day != noDay {
		for _, date := range dateTerms(time.Unix(int64(d.day)*86400, 0)) {
			if i := slices.Index(s.q.Dates, dateMark+date); i >= 0 {
				c.Dates[i] = true
			}
		}
	}
	return c
}

// hit returns an event with its neighbors.
func (s *searching) hit(r Ranked) Hit {
	doc, _ := slices.BinarySearchFunc(s.docs, r.Position, func(d document, position int) int { return cmp.Compare(int(d.position), position) })
	h := Hit{Event: s.events[r.Position], Position: r.Position, Turn: int(s.docs[doc].turn), Score: r.Score}
	for i := doc - 1; i >= 0 && len(h.Before) < s.query.Around; i-- {
		if n, may := s.neighbor(i); may {
			h.Before = append(h.Before, n)
		}
	}
	slices.Reverse(h.Before)
	for i := doc + 1; i < len(s.docs) && len(h.After) < s.query.Around; i++ {
		if n, may := s.neighbor(i); may {
			h.After = append(h.After, n)
		}
	}
	return h
}

func (s *searching) neighbor(doc int) (Neighbor, bool) {
	d := s.docs[doc]
	ev := s.events[d.position]
	return Neighbor{Event: ev, Position: int(d.position), Turn: int(d.turn)}, s.query.within(ev)
}

// each calls f with each document of the list, and how often it has the term.
func (l *list) each(f func(doc, count int)) {
	doc := 0
	for data := l.data; len(data) > 0; {
		distance, n := binary.Uvarint(data)
		count, m := binary.Uvarint(data[n:])
		data = data[n+m:]
		doc += int(distance)
		f(doc, int(count))
	}
}
