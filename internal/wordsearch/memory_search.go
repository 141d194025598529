package wordsearch

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// search returns the best events. p is locked.
func (p *postings) search(ctx context.Context, events []*session.Event, query index.Query) ([]index.Hit, error) {
	q := Ask(query.Text)
	if q.Empty() || len(p.docs) == 0 {
		return nil, ctx.Err()
	}
	s := searching{postings: p, q: q, events: events, query: query, ctx: ctx}
	s.docs = p.docs[:s.documents(len(events))]
	s.lookUp()
	candidates := s.candidates()
	ranked := Rank(q, s.corpus, candidates)
	if beside := s.beside(Beside(ranked, candidates)); len(beside) > 0 {
		ranked = Rank(q, s.corpus, append(candidates, beside...))
	}
	hits := make([]index.Hit, 0, min(len(ranked), limit(query)))
	for _, r := range ranked[:min(len(ranked), limit(query))] {
		hits = append(hits, s.hit(r))
	}
	if err := ctx.Err(); err != nil {
		return nil, err // something may be missing
	}
	return hits, nil
}

// limit is how many hits to return.
func limit(q index.Query) int { return cmp.Or(min(max(0, q.Limit), maxLimit), defaultLimit) }

// mayReturn reports whether an event may be returned.
func mayReturn(q index.Query, ev *session.Event) bool {
	switch {
	case !q.From.IsZero() && ev.Timestamp.Before(q.From), !q.To.IsZero() && ev.Timestamp.After(q.To):
		return false
	}
	return q.May == nil || q.May(ev)
}

// within reports whether an event may be returned. None may when the context has ended.
func (s *searching) within(ev *session.Event) bool {
	return s.ctx.Err() == nil && mayReturn(s.query, ev)
}

// searching is one search in one session.
type searching struct {
	*postings
	ctx    context.Context // when it ends, the search ends at the next event, and its hits are not returned
	q      Question
	query  index.Query
	events []*session.Event
	docs   []document // of these events
	ids    []int64    // of the question's terms, -1 for one that no event has
	corpus Corpus
}

// lookUp finds out what the ranking must know of the session.
func (s *searching) lookUp() {
	s.corpus = Corpus{Events: len(s.postings.docs), Length: s.length, Episodes: s.episodes, Authors: s.authors}
	for _, term := range s.q.Terms {
		id, have := int64(-1), 0
		if known, found := s.postings.ids[term]; found {
			id, have = int64(known), int(s.lists[known].docs)
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

// candidates returns the events to rank: those that may be returned and whose first estimate of a score is best. They are
// chosen by the rare terms of the question, and by all of them if these find too few.
func (s *searching) candidates() []Candidate {
	most := max(maxCandidates, 4*limit(s.query))
	terms, all := s.telling()
	found := s.found(terms, most)
	if !all && len(found) < most {
		found = s.found(s.present(), most)
	}
	out := make([]Candidate, 0, len(found))
	for _, f := range found {
		out = append(out, s.candidate(f.doc))
	}
	return out
}

// buffers hold a first estimate for each document, all of them 0.
var buffers = sync.Pool{New: func() any { return new([]float64) }}

// found returns the documents that may be returned and that have one of these terms or a date of the question, by a
// first estimate of their scores, the best first, and at most so many.
func (s *searching) found(terms []int, most int) []scored {
	buffer := buffers.Get().(*[]float64)
	if len(*buffer) < len(s.postings.docs) {
		*buffer = make([]float64, len(s.postings.docs))
	}
	scores := *buffer
	var touched []int
	defer func() { // also after a panic of the query's May
		for _, doc := range touched {
			scores[doc] = 0
		}
		buffers.Put(buffer)
	}()
	add := func(doc int, score float64) {
		if scores[doc] == 0 {
			touched = append(touched, doc)
		}
		scores[doc] += score
	}
	average := s.corpus.average()
	for _, i := range terms {
		weight := idf(s.corpus.Events, s.corpus.Frequency[i])
		s.lists[s.ids[i]].each(func(doc, count int) {
			add(doc, weight*Saturated(count, int(s.postings.docs[doc].length), average))
		})
	}
	s.eachAskedDay(add)
	var out []scored
	least := 0.0
	for _, doc := range touched {
		score := scores[doc]
		if doc < len(s.docs) && score >= least && s.within(s.events[s.docs[doc].position]) {
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

// present returns the positions of the question's terms that some event has, the rarest first.
func (s *searching) present() (out []int) {
	for i, id := range s.ids {
		if id >= 0 {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(s.corpus.Frequency[a], s.corpus.Frequency[b]) })
	return out
}

// telling returns the terms by which documents are chosen first: all that are present, without common ones if enough others
// remain, and without those that have too many documents to read.
func (s *searching) telling() (terms []int, all bool) {
	present := s.present()
	terms = present
	common := slices.IndexFunc(present, func(i int) bool {
		return Common(s.corpus.Frequency[i], s.corpus.Events)
	})
	if common >= EnoughRare {
		terms = present[:common]
	}
	matches := 0
	for n, i := range terms {
		if matches += s.corpus.Frequency[i]; matches > maxMatches && n > 0 {
			terms = terms[:n]
			break
		}
	}
	return terms, len(terms) == len(present)
}

// eachAskedDay calls f with each document whose day has a date of the question, and what the date is worth.
func (s *searching) eachAskedDay(f func(doc int, score float64)) {
	if len(s.q.Dates) == 0 {
		return
	}
	worth := map[int32]float64{noDay: 0}
	day, score := int32(noDay), 0.0
	for doc, d := range s.docs {
		if d.day != day { // events of a day follow each other
			day = d.day
			known, found := worth[day]
			if !found {
				known = s.worth(day)
				worth[day] = known
			}
			score = known
		}
		if score > 0 {
			f(doc, score)
		}
	}
}

// worth is what a day adds to the scores of its events.
func (s *searching) worth(day int32) (sum float64) {
	for _, date := range dateTerms(time.Unix(int64(day)*86400, 0)) {
		if i := slices.Index(s.q.Dates, dateMark+date); i >= 0 {
			sum += weightDate * idf(s.corpus.Events, s.corpus.Dates[i])
		}
	}
	return sum
}

// beside returns the candidates at some positions, as far as they have text and may be returned.
func (s *searching) beside(positions []int) (out []Candidate) {
	for _, position := range positions {
		if doc, found := s.document(position); found && doc < len(s.docs) && s.within(s.events[position]) {
			out = append(out, s.candidate(doc))
		}
	}
	return out
}

// document returns the document of an event.
func (p *postings) document(position int) (doc int, found bool) {
	return slices.BinarySearchFunc(p.docs, position, func(d document, position int) int { return cmp.Compare(int(d.position), position) })
}

// documents returns how many documents so many events have.
func (p *postings) documents(events int) int {
	doc, _ := p.document(events)
	return doc
}

// candidate is [Question.Count] for a document.
func (s *searching) candidate(doc int) Candidate {
	d := s.docs[doc]
	c := Candidate{
		Position: int(d.position), Author: s.authors[min(int(d.author), len(s.authors)-1)], Asking: d.asking,
		Counts: make([]int, len(s.q.Terms)), Dates: make([]bool, len(s.q.Dates)),
	}
	end := len(s.sequence)
	if doc+1 < len(s.postings.docs) {
		end = int(s.postings.docs[doc+1].begin)
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
func (s *searching) hit(r Ranked) index.Hit {
	doc, _ := s.document(r.Position)
	h := index.Hit{Event: s.events[r.Position], Position: r.Position, Turn: int(s.docs[doc].turn), Score: r.Score}
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

func (s *searching) neighbor(doc int) (index.Neighbor, bool) {
	d := s.docs[doc]
	ev := s.events[d.position]
	return index.Neighbor{Event: ev, Position: int(d.position), Turn: int(d.turn)}, s.within(ev)
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
