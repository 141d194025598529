package toolresult

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// maxRepeats is how often the same piece is returned without a comment.
const maxRepeats = 5

const repeatNote = "This piece has been returned several times and never changes. Use it as it is, or read another one."

// repeats counts the reads of each piece, for the pieces that were read last. A model in a loop reads few
// pieces, so it is always among them.
type repeats struct{ reads *lru.Cache[repeatKey, int] }

type repeatKey struct {
	owner store.Owner
	what  string
}

func newRepeats() (repeats, error) {
	reads, err := lru.New[repeatKey, int](1_024)
	return repeats{reads}, err
}

// tooMany counts a read, and reports whether the same piece was read more than maxRepeats times.
func (c repeats) tooMany(owner store.Owner, args readArgs) bool {
	key := repeatKey{owner, args.key()}
	n, _ := c.reads.Get(key)
	c.reads.Add(key, min(n+1, maxRepeats+1))
	return n >= maxRepeats
}
