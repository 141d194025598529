package textindex

import (
	"context"
	"fmt"
	"slices"

	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// State is how far the index has a session.
type State struct {
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

// StateOf returns the state of the index of the session with this key in the table sessions. A file from before there
// was an index has none, which is no error.
func StateOf(ctx context.Context, file sessionfile.Querier, sessionKey int64) (state State, err error) {
	var version int
	err = sessionfile.ScanOne(ctx, file, `SELECT last_seq, (SELECT user_version FROM pragma_user_version) FROM sessions WHERE key = ?`,
		[]any{sessionKey}, &state.LastSeq, &version)
	if err != nil {
		return state, fmt.Errorf("index of session %d: %w", sessionKey, err)
	}
	if version < searchVersion {
		return state, nil
	}
	x, found, err := readIndexed(func(into ...any) error {
		return sessionfile.ScanOne(ctx, file, selectIndexed, []any{sessionKey}, into...)
	}, sessionKey)
	if err != nil || !found {
		return state, err
	}
	state.Exists, state.Version, state.Current, state.IndexedTo = true, x.version, x.isCurrent(), x.to
	if !state.Current {
		return state, nil
	}
	return state, x.answers(ctx, file, &state)
}

// selectIndexRows counts the rows that the index has for the events of a session.
const selectIndexRows = `SELECT count(*) FROM events JOIN search_docsize ON search_docsize.id = events.key WHERE events.session = ?`

// answers looks for the newest covered events that the index must have, each by all of its terms: some of them may
// have been redacted before they were indexed.
func (x indexed) answers(ctx context.Context, file sessionfile.Querier, state *State) error {
	const back = 64 // events at most
	state.Documents = int64(x.documents)
	if err := sessionfile.ScanOne(ctx, file, selectIndexRows, []any{x.session}, &state.Rows); err != nil {
		return err
	}
	rows, err := file.Query(ctx, `SELECT `+eventrow.Columns+`, key FROM events
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
		err := sessionfile.ScanOne(ctx, file, `SELECT EXISTS (SELECT 1 FROM search WHERE search MATCH ? AND rowid = ?)`,
			[]any{x.any(d.terms), d.key}, &found)
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
