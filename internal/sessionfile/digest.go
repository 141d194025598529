package sessionfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// Digest is a SHA-256 digest. docs/schema.md describes the bytes that it is computed from.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// chainLabel begins the bytes of a genesis digest, so that no other data can have the same digest.
const chainLabel = "longsession chain 1"

// Digester computes the digests of a hash chain. The digest of an event depends on the digest
// before it:
//
//	genesis  = SHA-256(label, app, user, session, created_at)
//	digest 1 = SHA-256(genesis,  1, content of event 1)
//	digest 2 = SHA-256(digest 1, 2, content of event 2)
//
// So a change, removal or move of event 1 makes it necessary to recompute every digest after it. A
// Digester is not safe for concurrent use.
type Digester struct{ buf []byte }

// field adds a text, or NULL if it is nil.
func (d *Digester) field(column any) {
	text, ok := column.(string)
	if !ok {
		d.buf = append(d.buf, 0)
		return
	}
	d.length(len(text))
	d.buf = append(d.buf, text...)
}

func (d *Digester) bytes(column []byte) {
	if column == nil {
		d.buf = append(d.buf, 0)
		return
	}
	d.length(len(column))
	d.buf = append(d.buf, column...)
}

func (d *Digester) length(n int) {
	d.buf = binary.BigEndian.AppendUint64(append(d.buf, 1), uint64(n))
}

// sum returns the digest of the bytes so far, and starts again with none.
func (d *Digester) sum() Digest {
	sum := sha256.Sum256(d.buf)
	d.buf = d.buf[:0]
	return sum
}

// Genesis returns the digest before the first event of a session. It binds the chain to the
// session.
func (d *Digester) Genesis(app, user, id, created string) Digest {
	for _, text := range []string{chainLabel, app, user, id, created} {
		d.field(text)
	}
	return d.sum()
}

// Content returns the digest of all columns of a row that never change, except its number.
func (d *Digester) Content(r *eventrow.Row) Digest {
	for _, text := range []string{r.ID, r.Time, r.InvocationID, r.Author, r.Branch} {
		d.field(text)
	}
	for _, column := range []any{r.Record, r.Content, r.Actions, r.Usage, r.Custom, r.LongRunning, r.Extra} {
		d.field(column)
	}
	return d.sum()
}

// Next returns the digest of an event with this number, where before is the digest of the event
// before it.
func (d *Digester) Next(before Digest, seq int64, content Digest) Digest {
	d.buf = append(d.buf, before[:]...)
	d.buf = binary.BigEndian.AppendUint64(d.buf, uint64(seq))
	d.buf = append(d.buf, content[:]...)
	return d.sum()
}
