package textindex

import (
	"encoding/binary"
	"strings"

	"github.com/adk-go-ext/longsession/internal/wordsearch"
)

// The row of an event in search_terms: a byte of flags, the parts of its date, then its words in their order. Each is 32
// bits of the number that stands for the term in the table search. Two terms of a question and of an event share them
// in one of four billion pairs.
const (
	termBytes = 4
	asksFlag  = 1 // the text ends as a question does
)

// packer makes such a row.
type packer struct {
	indexed
	asks         bool
	dates, words []byte
	known        map[string]uint32
}

// number is that of a term.
func (x indexed) number(term string) uint32 {
	sum := x.sum(term, 1)
	return binary.BigEndian.Uint32(sum[1:])
}

// add adds the next term of the event.
func (p *packer) add(term string) {
	n, found := p.known[term]
	if !found {
		n = p.number(term)
		if p.known == nil {
			p.known = map[string]uint32{}
		}
		p.known[term] = n
	}
	if strings.HasPrefix(term, dateMark) {
		p.dates = binary.BigEndian.AppendUint32(p.dates, n)
		return
	}
	p.words = binary.BigEndian.AppendUint32(p.words, n)
}

// packed returns the row.
func (p *packer) packed() []byte {
	out := make([]byte, 1+datesOfEvent*termBytes, 1+datesOfEvent*termBytes+len(p.words))
	if p.asks {
		out[0] = asksFlag
	}
	copy(out[1:], p.dates)
	return append(out, p.words...)
}

// reading finds the terms of one question in rows of search_terms.
type reading struct {
	q    wordsearch.Question
	term map[uint32]string // of the question, its dates included
	list []string          // of one row; used again
}

func newReading(x indexed, q wordsearch.Question) *reading {
	r := &reading{q: q, term: make(map[uint32]string, len(q.Terms)+len(q.Dates))}
	for _, term := range q.Terms {
		r.term[x.number(term)] = term
	}
	for _, date := range q.Dates {
		r.term[x.number(date)] = date
	}
	return r
}

// count makes the candidate of a row. ok is false if the row is damaged.
func (r *reading) count(seq int, author string, row []byte) (c wordsearch.Candidate, ok bool) {
	const head = 1 + datesOfEvent*termBytes
	if len(row) < head || (len(row)-head)%termBytes != 0 {
		return c, false
	}
	r.list = r.list[:0]
	for at := 1; at < len(row); at += termBytes {
		term := r.term[binary.BigEndian.Uint32(row[at:])]
		if at < head && !strings.HasPrefix(term, dateMark) {
			term = dateMark // one that nobody asks for
		}
		r.list = append(r.list, term)
	}
	return r.q.Count(seq, author, row[0]&asksFlag != 0, r.list), true
}
