package textindex

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"errors"
	"strconv"
	"time"

	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
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
	return indexed{session: session, version: wordsearch.AnalyzerVersion, salt: salt}
}

// isCurrent reports whether this program can use the index.
func (x indexed) isCurrent() bool {
	return x.version == wordsearch.AnalyzerVersion && len(x.salt) == saltSize
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

// readIndexed reads the row of a session from search_sessions. found is false if it has none.
func readIndexed(scan func(...any) error, session int64) (x indexed, found bool, err error) {
	x.session = session
	err = scan(&x.version, &x.salt, &x.to, &x.newest, &x.ended, &x.documents, &x.length, &x.turns)
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
func (r *Reader) prepareSearch(ctx context.Context) error {
	if r.search.around != nil {
		return nil
	}
	var version int
	if err := r.Conn.QueryRowContext(ctx, "SELECT user_version FROM pragma_user_version").Scan(&version); err != nil {
		return err
	}
	if version < searchVersion {
		return errNoIndex
	}
	var p searchStatements
	err := r.Prepare(ctx, map[string]**sql.Stmt{
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

// quoted returns a word as FTS5's syntax has strings.
func quoted(word string) string { return `"` + word + `"` }

// endedAt is the time of the newest event with words.
func (x indexed) endedAt() (time.Time, error) {
	if x.ended == "" {
		return time.Time{}, nil
	}
	return eventrow.ParseTime(x.ended, nil)
}
