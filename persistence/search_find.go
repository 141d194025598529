package persistence

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/adk-go-ext/longsession/recall/index"
)

const (
	// firstMatches is how many matches of words are read before common words are left out. Reading takes 0.2 us each.
	firstMatches = 20_000
	// firstLook is how many of the events found are compared by their lengths, too.
	firstLook = 2_048
	// minCandidates is how many events are ranked with everything that is known of them, if there are so many.
	minCandidates = 200

	selectFrequency = `SELECT doc FROM search_words WHERE term = ?`
	selectWithWord  = `SELECT json_group_array(rowid) FROM search WHERE search MATCH ?`
	// selectLengths reads FTS5's own table of the numbers of words, as FTS5 writes them: a varint, of 7 bits a byte.
	selectLengths    = `SELECT id, sz FROM search_docsize WHERE id IN (SELECT value FROM json_each(?))`
	selectIsIndexed  = `SELECT EXISTS (SELECT 1 FROM search_docsize WHERE id = ?)`
	selectCandidates = `SELECT ` + eventColumns + `, key FROM events WHERE key IN (SELECT value FROM json_each(?1)) AND session = ?2 AND seq <= ?3
		AND time BETWEEN ?4 AND ?5`
	selectEpisodes = `SELECT first, last, length FROM search_episodes WHERE session = ? ORDER BY first`
	selectAuthors  = `SELECT author FROM search_authors WHERE session = ?`
	selectTurn     = `SELECT coalesce((SELECT turn FROM search_turns WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1), 0)`
)

// finding is one search in one session.
type finding struct {
	*reader
	indexed
	q     index.Question
	query index.Query

	corpus  index.Corpus
	asked   []asked            // words of the question that some event has, the rarest first
	average float64            // words of an event
	known   map[int64]document // candidates, by seq
}

// asked is one word of a question.
type asked struct {
	word   string
	have   int // events
	weight float64
	date   bool
}

// lookUp reads what the ranking must know of the session.
func (f *finding) lookUp(ctx context.Context) (err error) {
	f.corpus = index.Corpus{Events: f.documents, Length: f.length}
	f.average = max(1, float64(f.length)/float64(f.documents))
	if f.corpus.Frequency, err = f.frequencies(ctx, f.q.Terms); err != nil {
		return err
	}
	if f.corpus.Dates, err = f.frequencies(ctx, f.q.Dates); err != nil {
		return err
	}
	terms, dates := f.q.Weights(f.corpus)
	for i, term := range f.q.Terms {
		f.asked = append(f.asked, asked{f.word(term), f.corpus.Frequency[i], terms[i], false})
	}
	for i, date := range f.q.Dates {
		f.asked = append(f.asked, asked{f.word(date), f.corpus.Dates[i], dates[i], true})
	}
	f.asked = slices.DeleteFunc(f.asked, func(a asked) bool { return a.have == 0 })
	slices.SortStableFunc(f.asked, func(a, b asked) int { return cmp.Compare(a.have, b.have) })
	if err := f.eachRow(ctx, f.search.episodes, func(rows *sql.Rows) error {
		var e index.Episode
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
		err := f.search.frequency.QueryRowContext(ctx, f.word(term)).Scan(&have[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	return have, nil
}

// rank returns the best events that may be returned, the best first. Their numbers are their positions.
//
// It looks first at events with the rare words of the question. If too few of these may be returned, it looks at all that have
// any word.
func (f *finding) rank(ctx context.Context) ([]index.Ranked, error) {
	words, all := f.telling()
	candidates, err := f.candidates(ctx, words, firstLook)
	if err != nil {
		return nil, err
	}
	if (!all || candidates.more) && len(candidates.found) < f.enough() {
		if candidates, err = f.candidates(ctx, f.asked, -1); err != nil {
			return nil, err
		}
	}
	return index.Rank(f.q, f.corpus, candidates.found), nil
}

// enough is how many candidates are ranked.
func (f *finding) enough() int { return max(minCandidates, 4*f.query.Limit) }

// telling returns the words by which events are chosen first, and whether these are all.
func (f *finding) telling() (words []asked, all bool) {
	rare := slices.IndexFunc(f.asked, func(a asked) bool { return index.Common(a.have, f.documents) })
	words = f.asked
	if rare >= index.EnoughRare {
		words = f.asked[:rare]
	}
	sum := 0
	for i, a := range words {
		if sum += a.have; sum > firstMatches && i > 0 {
			words = words[:i]
			break
		}
	}
	return words, len(words) == len(f.asked)
}

// candidates are events to rank. more reports whether other events have a word, too.
type candidates struct {
	found []index.Candidate
	more  bool
}

// match is an event with some words of the question.
type match struct {
	key     int64
	weights float64 // of the words that it has
	dates   float64
	score   float64
}

// candidates chooses the events with the highest estimated scores that may be returned. It looks at most at so many,
// at all if most is negative.
func (f *finding) candidates(ctx context.Context, words []asked, most int) (c candidates, err error) {
	matches, err := f.matches(ctx, words)
	if err != nil {
		return c, err
	}
	if most >= 0 && len(matches) > most {
		c.more = true
		matches = matches[:most]
	}
	if err := f.estimate(ctx, matches); err != nil {
		return c, err
	}
	enough := f.enough()
	for len(matches) > 0 && len(c.found) < enough {
		some := matches[:min(len(matches), enough)]
		matches = matches[len(some):]
		if err := f.load(ctx, some, &c); err != nil {
			return c, err
		}
	}
	c.more = c.more || len(matches) > 0
	return c, nil
}

// matches returns the events with any of the words. Those with the most telling words come first.
func (f *finding) matches(ctx context.Context, words []asked) ([]match, error) {
	found := map[int64]match{}
	for _, a := range words {
		var text []byte
		if err := f.search.rowids.QueryRowContext(ctx, quoted(a.word)).Scan(&text); err != nil {
			return nil, err
		}
		var keys []int64
		if err := json.Unmarshal(text, &keys); err != nil {
			return nil, err
		}
		for _, key := range keys {
			m := found[key]
			m.key = key
			if a.date {
				m.dates += a.weight
			} else {
				m.weights += a.weight
			}
			found[key] = m
		}
	}
	out := make([]match, 0, len(found))
	for _, m := range found {
		m.score = m.weights + m.dates
		out = append(out, m)
	}
	best(out)
	return out, nil
}

// best sorts matches by their estimated scores.
func best(matches []match) {
	slices.SortFunc(matches, func(a, b match) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.key, b.key)) })
}

// estimate sorts matches by their scores as far as these can be told without reading the events: by words, dates and
// lengths. Which words an event has several times is not known.
func (f *finding) estimate(ctx context.Context, matches []match) error {
	if len(matches) <= f.enough() {
		return nil // all are candidates in any case
	}
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
		for _, b := range size {
			lengths[key] = lengths[key]<<7 | int(b&0x7f)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i, m := range matches {
		matches[i].score = m.dates + m.weights*index.Saturated(1, max(1, lengths[m.key]-datesOfEvent), f.average)
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

// load reads events, and adds those that may be returned to the candidates.
func (f *finding) load(ctx context.Context, some []match, c *candidates) error {
	from, to := "", "~" // sort before and behind every time
	if !f.query.From.IsZero() {
		from, _ = formatTime(f.query.From)
	}
	if !f.query.To.IsZero() {
		to, _ = formatTime(f.query.To)
	}
	rows, err := f.search.candidates.QueryContext(ctx, keysOf(some), f.indexed.session, f.indexed.to, from, to)
	docs, err := scanIndexable(rows, err, f.query.Redact)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if d.terms == nil || !f.may(d.event) {
			continue
		}
		one := f.q.Count(int(d.seq), d.event.Author, index.Text(d.event), d.terms)
		if !slices.ContainsFunc(one.Counts, func(n int) bool { return n > 0 }) && !slices.Contains(one.Dates, true) {
			continue // found by another word of the same number
		}
		f.known[d.seq] = d
		c.found = append(c.found, one)
	}
	return nil
}
