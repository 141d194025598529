package textindex

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

const (
	// firstMatches is how many matches of words are read before common words are left out. Reading takes 0.2 us each.
	firstMatches = 20_000
	// firstLook is how many of the events found are compared by their lengths, too.
	firstLook = 1_536
	// minCandidates is how many events are ranked with everything that is known of them, if there are so many.
	minCandidates = 200

	selectFrequency = `SELECT doc FROM search_words WHERE term = ?`
	selectWithWord  = `SELECT group_concat(rowid, ' ') FROM search WHERE search MATCH ?`
	// selectLengths reads FTS5's own table of the numbers of words, as FTS5 writes them: a varint, of 7 bits a byte.
	selectLengths   = `SELECT id, sz FROM search_docsize WHERE id IN (SELECT value FROM json_each(?))`
	selectIsIndexed = `SELECT EXISTS (SELECT 1 FROM search_docsize WHERE id = ?1) AND EXISTS (SELECT 1 FROM search_terms WHERE event = ?1)`
	// The order of the joins is fixed, so that no plan reads all events of the session.
	selectCandidates = selectSome + ` NOT INDEXED ON events.key = j.value AND session = ?2` + selectWhere
	selectBeside     = selectSome + ` ON session = ?2 AND seq = j.value` + selectWhere
	selectSome       = `SELECT events.key, seq, author, terms FROM json_each(?1) j CROSS JOIN events`
	selectWhere      = ` AND seq <= ?3 AND time BETWEEN ?4 AND ?5 CROSS JOIN search_terms ON event = events.key`
	selectLoad       = `SELECT ` + eventrow.Columns + `, key FROM events WHERE key IN (SELECT value FROM json_each(?))`
	selectEpisodes   = `SELECT first, last, length FROM search_episodes WHERE session = ? ORDER BY first`
	selectAuthors    = `SELECT author FROM search_authors WHERE session = ?`
	selectTurn       = `SELECT coalesce((SELECT turn FROM search_turns WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1), 0)`
)

// finding is one search in one session.
type finding struct {
	*Reader
	indexed
	q     wordsearch.Question
	query index.Query

	corpus  wordsearch.Corpus
	terms   []asked // terms of the question that some event has, the rarest first
	dates   []asked // its dates
	average float64 // words of an event
	reading *reading
	known   map[int64]known // candidates, by seq
}

// known is what was read of a candidate.
type known struct {
	key   int64
	event *session.Event // nil if it was not read yet
}

// asked is one term or date of a question.
type asked struct {
	term   string
	have   int // events
	weight float64
}

// lookUp reads what the ranking must know of the session.
func (f *finding) lookUp(ctx context.Context) (err error) {
	f.corpus = wordsearch.Corpus{Events: f.documents, Length: f.length}
	f.average = max(1, float64(f.length)/float64(f.documents))
	if f.corpus.Frequency, err = f.frequencies(ctx, f.q.Terms); err != nil {
		return err
	}
	if f.corpus.Dates, err = f.frequencies(ctx, f.q.Dates); err != nil {
		return err
	}
	f.terms, f.dates = askedOf(f.q, f.corpus)
	if err := f.eachRow(ctx, f.search.episodes, func(rows *sql.Rows) error {
		var e wordsearch.Episode
		defer func() { f.corpus.Episodes = append(f.corpus.Episodes, e) }()
		return rows.Scan(&e.First, &e.Last, &e.Length)
	}); err != nil {
		return err
	}
	return f.eachRow(ctx, f.search.authors, func(rows *sql.Rows) error {
		var author string
		defer func() { f.corpus.Authors = append(f.corpus.Authors, author) }()
		return rows.Scan(&author)
	})
}

// askedOf returns the terms and the dates of a question that some event has, the rarest first.
func askedOf(q wordsearch.Question, corpus wordsearch.Corpus) (terms, dates []asked) {
	inTerms, inDates := q.Weights(corpus)
	for i, term := range q.Terms {
		terms = append(terms, asked{term, corpus.Frequency[i], inTerms[i]})
	}
	for i, date := range q.Dates {
		dates = append(dates, asked{date, corpus.Dates[i], inDates[i]})
	}
	terms = slices.DeleteFunc(terms, func(a asked) bool { return a.have == 0 })
	dates = slices.DeleteFunc(dates, func(a asked) bool { return a.have == 0 })
	slices.SortStableFunc(terms, func(a, b asked) int { return cmp.Compare(a.have, b.have) })
	return terms, dates
}

// eachRow calls do for each row of a statement about the session.
func (f *finding) eachRow(ctx context.Context, stmt *sql.Stmt, do func(*sql.Rows) error) error {
	rows, err := stmt.QueryContext(ctx, f.indexed.session)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// frequencies returns how many events of the session have each term.
func (f *finding) frequencies(ctx context.Context, terms []string) ([]int, error) {
	have := make([]int, len(terms))
	for i, term := range terms {
		err := f.search.frequency.QueryRowContext(ctx, f.word(term, 1)).Scan(&have[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	return have, nil
}

// rank returns the best events that may be returned, the best first. Their numbers are their positions.
func (f *finding) rank(ctx context.Context) ([]wordsearch.Ranked, error) {
	candidates, err := f.candidates(ctx)
	if err != nil {
		return nil, err
	}
	ranked := wordsearch.Rank(f.q, f.corpus, candidates)
	beside, err := f.beside(ctx, wordsearch.Beside(ranked, candidates))
	if len(beside) == 0 || err != nil {
		return ranked, err
	}
	return wordsearch.Rank(f.q, f.corpus, append(candidates, beside...)), nil
}

// enough is how many candidates are ranked.
func (f *finding) enough() int { return max(minCandidates, 4*f.query.Limit) }

// candidates returns the events to rank. It looks first at those with the rare terms of the question. If too few of these may
// be returned, it looks at those with any term, and then at all of them and not only at the best.
func (f *finding) candidates(ctx context.Context) ([]wordsearch.Candidate, error) {
	terms, all := f.telling()
	found, more, err := f.choose(ctx, terms, firstLook)
	if err == nil && !all && len(found) < f.enough() {
		found, more, err = f.choose(ctx, f.terms, firstLook)
	}
	if err == nil && more && len(found) < f.enough() {
		found, _, err = f.choose(ctx, f.terms, math.MaxInt)
	}
	return found, err
}

// telling returns the terms by which events are chosen first, and whether these are all.
func (f *finding) telling() (terms []asked, all bool) {
	common := slices.IndexFunc(f.terms, func(a asked) bool { return wordsearch.Common(a.have, f.documents) })
	terms = f.terms
	if common >= wordsearch.EnoughRare {
		terms = f.terms[:common]
	}
	sum := 0
	for i, a := range terms {
		if sum += a.have; sum > firstMatches && i > 0 {
			terms = terms[:i]
			break
		}
	}
	return terms, len(terms) == len(f.terms)
}

// match is an event with some words of the question.
type match struct {
	key      int64
	mentions []uint8 // of each term
	dates    float64 // what its dates are worth
	score    float64 // an estimate
}

// choose returns the events with the highest estimated scores among those with any of the terms, or a date of the
// question, as far as they may be returned. It looks at so many at most, and reports whether there are more.
func (f *finding) choose(ctx context.Context, terms []asked, most int) (found []wordsearch.Candidate, more bool, err error) {
	matches, err := f.matches(ctx, terms)
	if err != nil {
		return nil, false, err
	}
	for i := range matches {
		f.score(&matches[i], terms, int(f.average))
	}
	best(matches)
	if more = len(matches) > most; more {
		matches = matches[:most]
	}
	enough := f.enough()
	if len(matches) > enough {
		if err := f.estimate(ctx, matches, terms); err != nil {
			return nil, false, err
		}
	}
	for len(matches) > 0 && len(found) < enough {
		some := matches[:min(len(matches), enough-len(found))]
		matches = matches[len(some):]
		rows, err := f.search.candidates.QueryContext(ctx, f.conditions(keysOf(some))...)
		if found, err = f.add(ctx, found, rows, err); err != nil {
			return nil, false, err
		}
	}
	return found, more, nil
}

// matches returns the events with any of the terms or dates.
func (f *finding) matches(ctx context.Context, terms []asked) ([]match, error) {
	have := 0
	for _, a := range terms {
		have += a.have
	}
	have = min(have, f.documents)
	out := make([]match, 0, have)
	at := make(map[int64]int, have)
	mentions := make([]uint8, have*len(terms)) // of all of them: one allocation instead of thousands
	each := func(word string, do func(*match)) (int, error) {
		var text sql.NullString
		if err := f.search.rowids.QueryRowContext(ctx, quoted(word)).Scan(&text); err != nil {
			return 0, err
		}
		n := 0
		for one := range strings.FieldsSeq(text.String) {
			key, err := strconv.ParseInt(one, 10, 64)
			if err != nil {
				return 0, err
			}
			i, known := at[key]
			if !known {
				if len(mentions) < len(terms) { // events with a date only, and those appended meanwhile
					mentions = make([]uint8, max(1, len(out))*len(terms))
				}
				i = len(out)
				at[key] = i
				out = append(out, match{key: key, mentions: mentions[:len(terms):len(terms)]})
				mentions = mentions[len(terms):]
			}
			do(&out[i])
			n++
		}
		return n, nil
	}
	for i, a := range terms {
		for mention, n := 1, 1; n > 0 && mention <= maxMentions; mention++ {
			var err error
			if n, err = each(f.word(a.term, mention), func(m *match) { m.mentions[i]++ }); err != nil {
				return nil, err
			}
		}
	}
	for _, a := range f.dates {
		if a.have > firstMatches && len(terms) > 0 {
			continue // worth little, and much to read
		}
		if _, err := each(f.word(a.term, 1), func(m *match) { m.dates += a.weight }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// score estimates the score of an event of so many words.
func (f *finding) score(m *match, terms []asked, length int) {
	m.score = m.dates
	for i, n := range m.mentions {
		if n > 0 {
			m.score += terms[i].weight * wordsearch.Saturated(int(n), max(1, length), f.average)
		}
	}
}

// best sorts matches by their estimated scores.
func best(matches []match) {
	slices.SortFunc(matches, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.key, b.key)) })
}

// estimate sorts matches by their scores, now with the lengths of the events.
func (f *finding) estimate(ctx context.Context, matches []match, terms []asked) error {
	lengths := make(map[int64]int, len(matches))
	rows, err := f.search.lengths.QueryContext(ctx, keysOf(matches))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		var size sql.RawBytes
		if err := rows.Scan(&key, &size); err != nil {
			return err
		}
		length := 0
		for _, b := range size {
			length = length<<7 | int(b&0x7f)
		}
		lengths[key] = length - datesOfEvent
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range matches {
		f.score(&matches[i], terms, lengths[matches[i].key])
	}
	best(matches)
	return nil
}

// datesOfEvent is how many terms stand for the date of an event.
const datesOfEvent = 4

// keysOf returns the keys of matches as a JSON array.
func keysOf(matches []match) string {
	keys := make([]int64, len(matches))
	for i, m := range matches {
		keys[i] = m.key
	}
	text, _ := json.Marshal(keys) // numbers have no errors
	return string(text)
}

// conditions are the parameters for reading some events that may be returned.
func (f *finding) conditions(some string) []any {
	from, to := "", "~" // sort before and behind every time
	if !f.query.From.IsZero() {
		from, _ = eventrow.FormatTime(f.query.From)
	}
	if !f.query.To.IsZero() {
		to, _ = eventrow.FormatTime(f.query.To)
	}
	return []any{some, f.indexed.session, f.indexed.to, from, to}
}

// add adds the events of rows to the candidates, as far as they may be returned.
func (f *finding) add(ctx context.Context, to []wordsearch.Candidate, rows *sql.Rows, err error) ([]wordsearch.Candidate, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	first := len(to)
	for rows.Next() {
		var key, seq int64
		var author string
		var terms sql.RawBytes
		if err := rows.Scan(&key, &seq, &author, &terms); err != nil {
			return nil, err
		}
		if c, ok := f.reading.count(int(seq), author, terms); ok {
			f.known[seq] = known{key: key}
			to = append(to, c)
		}
	}
	if err := rows.Err(); err != nil || f.query.May == nil {
		return to, err
	}
	var positions []int
	for _, c := range to[first:] {
		positions = append(positions, c.Position)
	}
	if err := f.load(ctx, positions); err != nil {
		return nil, err
	}
	added := slices.DeleteFunc(to[first:], func(c wordsearch.Candidate) bool {
		ev := f.known[int64(c.Position)].event
		drop := ev == nil || !f.may(ev)
		if drop {
			delete(f.known, int64(c.Position)) // a search may go through all events
		}
		return drop
	})
	return to[:first+len(added)], nil
}

// load reads the events of candidates, as far as they are not read yet. A row that cannot be decoded has none.
func (f *finding) load(ctx context.Context, positions []int) error {
	var keys []int64
	for _, p := range positions {
		if one := f.known[int64(p)]; one.event == nil {
			keys = append(keys, one.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	text, _ := json.Marshal(keys) // numbers have no errors
	rows, err := f.search.load.QueryContext(ctx, string(text))
	docs, err := scanDocuments(rows, err, func(*session.Event) []string { return nil })
	for _, d := range docs {
		f.known[d.seq] = known{d.key, d.event}
	}
	return err
}

// beside returns the events with these numbers as candidates.
func (f *finding) beside(ctx context.Context, numbers []int) ([]wordsearch.Candidate, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	text, _ := json.Marshal(numbers) // numbers have no errors
	rows, err := f.search.beside.QueryContext(ctx, f.conditions(string(text))...)
	return f.add(ctx, nil, rows, err)
}
