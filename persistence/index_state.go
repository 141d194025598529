package persistence

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/adk-go-ext/longsession/internal/eventrow"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

const (
	// searchVersion is the version of the schema that has the index as this program uses it.
	searchVersion = 5
	// saltSize makes guessing a session's key hopeless.
	saltSize = 16

	selectIndexed = `SELECT version, salt, indexed_to, coalesce(newest, 0), coalesce(ended, ''), documents, length, turns
		FROM search_sessions WHERE session = ?`
	selectLastEpisode = `SELECT first, last, length FROM search_episodes WHERE session = ? ORDER BY first DESC LIMIT 1`
)

// indexed is how far a session is indexed: a row of search_sessions.
type indexed struct {
	session   int64
	version   int
	salt      []byte
	to        int64  // seq of the newest event that was taken in
	newest    int64  // key of the newest event with words
	ended     string // its time, "" if there is none
	documents int
	length    int
	turns     int
}

// fresh is the state of a session that is not indexed.
func fresh(session int64) indexed {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	return indexed{session: session, version: index.AnalyzerVersion, salt: salt}
}

// isCurrent reports whether this program can use the index.
func (x indexed) isCurrent() bool {
	return x.version == index.AnalyzerVersion && len(x.salt) == saltSize
}

// letters are those of the numbers that stand for words. FTS5's tokenizer leaves them as they are.
var letters = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// word returns what stands in the index for the nth mention of a term in an event: the session's key and 40 bits of
// a hash of the salt, the number and the term, such as "12:0pfk3m8a". The session's key keeps the words of a session
// together, and those of others away. FTS5 leaves words of deleted rows in the file until it merges them. Without the
// salt, nobody can tell which words these were. Should two terms ever share a word, a search looks at an event in vain.
//
// FTS5 keeps no counts with detail=column, so each mention up to maxMentions is a word of its own.
func (x indexed) word(term string, mention int) string {
	sum := x.sum(term, mention)
	out := strconv.AppendInt(make([]byte, 0, 32), x.session, 10)
	out = append(out, ':')
	return string(letters.AppendEncode(out, sum[:5]))
}

// sum is the hash that word takes its bits from.
func (x indexed) sum(term string, mention int) [sha256.Size]byte {
	var block [saltSize + 1 + 2*maxTermBytes]byte
	n := copy(block[:], x.salt)
	block[n] = byte(min(mention, maxMentions))
	n++
	n += copy(block[n:], term)
	return sha256.Sum256(block[:n])
}

// maxMentions is how many mentions of a term in one event are told apart. More of them hardly change a score.
const maxMentions = 6

// maxTermBytes is how many bytes a term of package index has at most.
const maxTermBytes = 64

// selectIndex reads the row of a session. found is false if it has none.
func readIndexed(ctx context.Context, stmt *sql.Stmt, session int64) (x indexed, found bool, err error) {
	x.session = session
	err = stmt.QueryRowContext(ctx, session).Scan(&x.version, &x.salt, &x.to, &x.newest, &x.ended, &x.documents, &x.length, &x.turns)
	if errors.Is(err, sql.ErrNoRows) {
		return x, false, nil
	}
	return x, err == nil, err
}

// searchStatements read the index. They are prepared at the first use, because a file that was opened for reading only
// can be older than the tables.
type searchStatements struct {
	indexed, lastEpisode, episodes, authors *sql.Stmt
	next, newestCovered                     *sql.Stmt
	frequency, rowids, lengths, has         *sql.Stmt
	candidates, beside, load, turn, around  *sql.Stmt
}

// errNoIndex is the reason why the index of a file cannot be used. Searches read the events instead.
var errNoIndex = errors.New("the file has no index")

// prepareSearch prepares the statements for the index, unless they are prepared. It returns errNoIndex if the file
// is older than the tables.
func (r *reader) prepareSearch(ctx context.Context) error {
	if r.search.around != nil {
		return nil
	}
	var version int
	if err := r.conn.QueryRowContext(ctx, "SELECT user_version FROM pragma_user_version").Scan(&version); err != nil {
		return err
	}
	if version < searchVersion {
		return errNoIndex
	}
	var p searchStatements
	err := r.prepare(ctx, map[string]**sql.Stmt{
		selectIndexed:       &p.indexed,
		selectLastEpisode:   &p.lastEpisode,
		selectEpisodes:      &p.episodes,
		selectAuthors:       &p.authors,
		selectNextEvents:    &p.next,
		selectNewestCovered: &p.newestCovered,
		selectFrequency:     &p.frequency,
		selectWithWord:      &p.rowids,
		selectLengths:       &p.lengths,
		selectIsIndexed:     &p.has,
		selectCandidates:    &p.candidates,
		selectBeside:        &p.beside,
		selectLoad:          &p.load,
		selectTurn:          &p.turn,
		selectPage:          &p.around,
	})
	if err == nil {
		r.search = p
	}
	return err
}

// IndexState is how far the index of words has a session.
type IndexState struct {
	// Exists reports whether the session has an index. Only sessions that are searched have one. All other fields
	// but LastSeq and Newest are zero without it.
	Exists bool
	// Version is that of the analysis that the index was made with, and Current reports whether it is this program's.
	Version int
	Current bool
	// IndexedTo is the number of the newest event that the index has taken in, and LastSeq that of the session's
	// newest event. The rest is taken in by the next search.
	IndexedTo, LastSeq int64
	// Documents is how many events the index counts, and Rows how many it has. They differ only if it is damaged.
	Documents, Rows int64
	// Newest is the number of the newest covered event with words among those that the index has taken in, 0 if
	// there is none. Answers reports whether the index finds it, and AnswersAny whether it finds that event or one of
	// the covered events in front of it: a Redact may have taken all words out of one event, but hardly of many.
	Newest              int64
	Answers, AnswersAny bool
}

// Index returns the state of the index of the session with this key in the table sessions. A file from before there
// was an index has none, which is no error.
func (s *Snapshot) Index(ctx context.Context, sessionKey int64) (state IndexState, err error) {
	if s.r == nil {
		if s.r, err = newReader(ctx, s.conn); err != nil {
			return state, err
		}
	}
	err = s.conn.QueryRowContext(ctx, `SELECT last_seq FROM sessions WHERE key = ?`, sessionKey).Scan(&state.LastSeq)
	if err != nil {
		return state, fmt.Errorf("index of session %d: %w", sessionKey, err)
	}
	if err := s.r.prepareSearch(ctx); errors.Is(err, errNoIndex) {
		return state, nil
	} else if err != nil {
		return state, fmt.Errorf("index of session %d: %w", sessionKey, err)
	}
	x, found, err := readIndexed(ctx, s.r.search.indexed, sessionKey)
	if err != nil || !found {
		return state, err
	}
	state.Exists, state.Version, state.Current, state.IndexedTo = true, x.version, x.isCurrent(), x.to
	if !state.Current {
		return state, nil
	}
	return state, s.answers(ctx, x, &state)
}

// selectIndexRows counts the rows that the index has for the events of a session.
const selectIndexRows = `SELECT count(*) FROM events JOIN search_docsize ON search_docsize.id = events.key WHERE events.session = ?`

// answers looks for the newest covered events that the index must have, each by all of its terms: some of them may
// have been redacted before they were indexed.
func (s *Snapshot) answers(ctx context.Context, x indexed, state *IndexState) error {
	const back = 64 // events at most
	state.Documents = int64(x.documents)
	if err := s.conn.QueryRowContext(ctx, selectIndexRows, x.session).Scan(&state.Rows); err != nil {
		return err
	}
	rows, err := s.conn.QueryContext(ctx, `SELECT `+eventrow.Columns+`, key FROM events
		WHERE session = ? AND seq <= ? AND covered_by IS NOT NULL AND record_id IS NULL ORDER BY seq DESC LIMIT ?`, x.session, x.to, back)
	docs, err := scanIndexable(rows, err, nil)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if d.terms == nil {
			continue
		}
		var found bool
		err := s.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM search WHERE search MATCH ? AND rowid = ?)`,
			x.any(d.terms), d.key).Scan(&found)
		if err != nil {
			return err
		}
		if state.Newest == 0 {
			state.Newest, state.Answers = d.seq, found
		}
		if found {
			state.AnswersAny = true
			return nil
		}
	}
	return nil
}

// any returns a query for events with any of the terms, at most the first 50 of them.
func (x indexed) any(terms []string) string {
	terms = slices.Compact(slices.Sorted(slices.Values(terms)))
	query := make([]byte, 0, 1024)
	for i, term := range terms[:min(len(terms), 50)] {
		if i > 0 {
			query = append(query, " OR "...)
		}
		query = append(query, quoted(x.word(term, 1))...)
	}
	return string(query)
}

// quoted returns a word as FTS5's syntax has strings.
func quoted(word string) string { return `"` + word + `"` }

// endedAt is the time of the newest event with words.
func (x indexed) endedAt() (time.Time, error) {
	if x.ended == "" {
		return time.Time{}, nil
	}
	return eventrow.ParseTime(x.ended, nil)
}
