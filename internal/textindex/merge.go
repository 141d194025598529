package textindex

import (
	"context"
	"time"
)

// FTS5 keeps an index in segments, and merges them so that searches stay fast and deleted rows leave the file. By itself it
// does so within other writes, in steps that grow with the number of levels of segments. Deletions add levels, and a
// merge that meets only deleted rows does not stop until it is through. One step then takes a second and more. So this package
// turns that off in the file, and merges in steps of its own, each in its own transaction.
const (
	// mergePages is how many pages of 4 KB a step writes at most. In most steps that takes 5 to 25 ms.
	mergePages = 64
	// termsPerStep is how many terms of new rows one step makes up for: 8 bytes each, through 6 levels.
	termsPerStep = mergePages * 4000 / (8 * 6)
	// mergeShare is the share of deleted rows, in percent, from which segments are merged to get rid of these rows.
	mergeShare = 40

	selectMergesItself = `SELECT NOT EXISTS (SELECT 1 FROM search_config WHERE k = 'automerge' AND v = 0)`
	selectMergeShare   = `SELECT coalesce((SELECT v FROM search_config WHERE k = 'deletemerge'), 10)`
	setMergesItself    = `INSERT INTO search (search, rank) VALUES ('automerge', 0)`
	setMergeShare      = `INSERT INTO search (search, rank) VALUES ('deletemerge', ?)`
	mergeSome          = `INSERT INTO search (search, rank) VALUES ('merge', ?)`
	selectChanges      = `SELECT total_changes()`
)

// tuneIndex turns off FTS5's own merging, and sets the share of deleted rows from which segments are merged.
func tuneIndex(w *Writer, share int) error {
	ctx := context.Background()
	var itself bool
	if err := w.Conn.QueryRowContext(ctx, selectMergesItself).Scan(&itself); err != nil {
		return err
	}
	if itself {
		if _, err := w.Conn.ExecContext(ctx, setMergesItself); err != nil {
			return err
		}
	}
	var before int
	if err := w.Conn.QueryRowContext(ctx, selectMergeShare).Scan(&before); err != nil || before == share {
		return err
	}
	_, err := w.Conn.ExecContext(ctx, setMergeShare, share)
	return err
}

// mergeStep merges so many pages of the index, and reports whether there was nothing to merge.
func mergeStep(w *Writer, pages int) (done bool, err error) {
	ctx := context.Background()
	var before, after int64
	if err := w.Conn.QueryRowContext(ctx, selectChanges).Scan(&before); err != nil {
		return false, err
	}
	if _, err := w.Conn.ExecContext(ctx, mergeSome, pages); err != nil {
		return false, err
	}
	err = w.Conn.QueryRowContext(ctx, selectChanges).Scan(&after)
	return after-before < 2, err // FTS5 counts one change for the command itself
}

// mergeIndex merges after so many terms were indexed, at least one step, as long as there is something to merge.
func (s *indexer) mergeIndex(ctx context.Context, terms int) error {
	for steps := 1 + terms/termsPerStep; steps > 0; steps-- {
		done := false
		err := s.file.Write(ctx, func(w *Writer) (err error) {
			if err := tuneIndex(w, mergeShare); err != nil {
				return err
			}
			done, err = mergeStep(w, mergePages)
			return err
		})
		if done || err != nil {
			return err
		}
	}
	return nil
}

// Merger merges the index while a session is erased, with as many pages in a step as fit into the time for one.
type Merger struct {
	pages int
	// share is that of deleted rows from which segments are merged.
	share int
	most  time.Duration // of a step
}

const fewestPages, mostPages = 4, mergePages

// NewMerger returns the merger for erasing a session of so many events in the index, among all that the index has. The more
// other sessions the index has, the smaller is the share of deleted rows that calls for a merge: a merge must not begin
// only when nearly all words of the session are dead, because it cannot stop among dead words.
func NewMerger(documents, all int64, most time.Duration) Merger {
	return Merger{pages: 16, share: int(max(1, mergeShare*documents/max(1, all))), most: most}
}

// Step runs one step, and reports whether there was nothing to merge. The pages of the next one depend on how long it took.
// The last one restores the usual share. A file whose tables of the index are missing has nothing to merge.
func (m *Merger) Step(w *Writer, erased bool) (done bool, err error) {
	began := time.Now()
	err = tuneIndex(w, m.share)
	if err == nil {
		done, err = mergeStep(w, m.pages)
	}
	if err == nil && done && erased {
		err = tuneIndex(w, mergeShare)
	}
	if isUnknown(err) {
		return true, nil
	}
	switch took := time.Since(began); {
	case took > m.most:
		m.pages = max(fewestPages, m.pages/2)
	case took < m.most/4 && !done:
		m.pages = min(mostPages, 2*m.pages)
	}
	return done, err
}

// isUnknown reports whether a table that a statement names is missing, or its module.
func isUnknown(err error) bool { return resultCode(err) == 1 }
