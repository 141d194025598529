package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// head is the end of a session's chain.
type head struct {
	seq    int64
	digest sessionfile.Digest
}

// maxHeads limits how many heads a writer remembers.
const maxHeads = 4096

// selectHead reads the newest digest. It is NULL if the event is older than digests.
const selectHead = `SELECT last_seq, created_at, (SELECT digest FROM events WHERE session = sessions.key AND seq = last_seq)
		FROM sessions WHERE key = ? AND app = ? AND user = ? AND id = ?`

// head returns the end of a session's chain, from memory if the writer remembers it. A remembered
// head may be out of date, because another process can append. insertEvent therefore stores nothing
// unless the head is the newest event.
func (w *writer) head(to *storedSession) (_ head, remembered bool, err error) {
	if h, ok := w.heads[to.key]; ok {
		return h, true, nil
	}
	var h head
	var created string
	var digest []byte
	err = w.findHead.QueryRowContext(context.Background(), to.key, to.app, to.user, to.id).Scan(&h.seq, &created, &digest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return head{}, false, fmt.Errorf("%w: %q, cannot append event", adk.ErrNotFound, to.id)
	case err != nil:
		return head{}, false, err
	case len(digest) == len(h.digest):
		h.digest = sessionfile.Digest(digest)
		return h, false, nil
	}
	// The session has no event, or its newest event was stored before events had digests.
	h.digest = w.digests.Genesis(to.app, to.user, to.id, created)
	if h.seq == 0 {
		return h, false, nil
	}
	rows, err := w.chain.QueryContext(context.Background(), to.key)
	if err != nil {
		return head{}, false, err
	}
	for link, err := range sessionfile.Links(rows, &w.digests, h.digest) {
		if err != nil {
			return head{}, false, err
		}
		h.digest = link.Digest
	}
	return h, false, nil
}

// remember keeps the end of a session's chain. The writer forgets all of them when it undoes a
// transaction.
func (w *writer) remember(session int64, h head) {
	if w.heads == nil || len(w.heads) >= maxHeads {
		w.heads = map[int64]head{}
	}
	w.heads[session] = h
}
