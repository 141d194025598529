package persistence

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"google.golang.org/adk/session"
)

// Digest is a SHA-256 digest. docs/schema.md describes the bytes that it is computed from.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// chainLabel begins the bytes of a genesis digest, so that no other data can have the same digest.
const chainLabel = "longsession chain 1"

// digester computes the digests of a hash chain. The digest of an event depends on the digest
// before it:
//
//	genesis  = SHA-256(label, app, user, session, created_at)
//	digest 1 = SHA-256(genesis,  1, content of event 1)
//	digest 2 = SHA-256(digest 1, 2, content of event 2)
//
// So a change, removal or move of event 1 makes it necessary to recompute every digest after it. A
// digester is not safe for concurrent use.
type digester struct{ buf []byte }

// field adds a text, or NULL if it is nil.
func (d *digester) field(column any) {
	text, ok := column.(string)
	if !ok {
		d.buf = append(d.buf, 0)
		return
	}
	d.length(len(text))
	d.buf = append(d.buf, text...)
}

func (d *digester) bytes(column []byte) {
	if column == nil {
		d.buf = append(d.buf, 0)
		return
	}
	d.length(len(column))
	d.buf = append(d.buf, column...)
}

func (d *digester) length(n int) {
	d.buf = binary.BigEndian.AppendUint64(append(d.buf, 1), uint64(n))
}

// sum returns the digest of the bytes so far, and starts again with none.
func (d *digester) sum() Digest {
	sum := sha256.Sum256(d.buf)
	d.buf = d.buf[:0]
	return sum
}

// genesis returns the digest before the first event of a session. It binds the chain to the
// session.
func (d *digester) genesis(app, user, id, created string) Digest {
	for _, text := range []string{chainLabel, app, user, id, created} {
		d.field(text)
	}
	return d.sum()
}

// content returns the digest of all columns of a row that never change, except its number.
func (d *digester) content(r *row) Digest {
	for _, text := range []string{r.id, r.time, r.invocationID, r.author, r.branch} {
		d.field(text)
	}
	for _, column := range []any{r.record, r.content, r.actions, r.usage, r.custom, r.longRunning, r.extra} {
		d.field(column)
	}
	return d.sum()
}

// next returns the digest of an event with this number, where before is the digest of the event
// before it.
func (d *digester) next(before Digest, seq int64, content Digest) Digest {
	d.buf = append(d.buf, before[:]...)
	d.buf = binary.BigEndian.AppendUint64(d.buf, uint64(seq))
	d.buf = append(d.buf, content[:]...)
	return d.sum()
}

// head is the end of a session's chain.
type head struct {
	seq    int64
	digest Digest
}

// maxHeads limits how many heads a writer remembers.
const maxHeads = 4096

const (
	// selectHead reads the newest digest. It is NULL if the event is older than digests.
	selectHead = `SELECT last_seq, created_at, (SELECT digest FROM events WHERE session = sessions.key AND seq = last_seq)
		FROM sessions WHERE key = ? AND app = ? AND user = ? AND id = ?`
	selectChain = `SELECT seq, digest, id, time, invocation_id, author, branch, record_id, content, actions, usage_metadata,
		custom_metadata, long_running_tool_ids, extra FROM events WHERE session = ? ORDER BY seq`
)

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
		return head{}, false, fmt.Errorf("%w: %q, cannot append event", session.ErrNotFound, to.id)
	case err != nil:
		return head{}, false, err
	case len(digest) == len(h.digest):
		h.digest = Digest(digest)
		return h, false, nil
	}
	// The session has no event, or its newest event was stored before events had digests.
	h.digest = w.digests.genesis(to.app, to.user, to.id, created)
	if h.seq == 0 {
		return h, false, nil
	}
	rows, err := w.chain.QueryContext(context.Background(), to.key)
	if err != nil {
		return head{}, false, err
	}
	for link, err := range chainLinks(rows, &w.digests, h.digest) {
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
