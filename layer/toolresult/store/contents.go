package store

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxContents and maxContentBytes bound the contents that a source keeps open, so that a model which
// reads a result piece by piece loads it once.
const (
	maxContents     = 64
	maxContentBytes = 64 << 20
)

// contentKey names a result of a session.
type contentKey struct {
	session any // an *index or an Owner
	ref     string
}

// contents keeps the results used last, within maxContents and maxContentBytes. The newest is kept
// whatever its size. It is safe for concurrent use.
type contents struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[contentKey, string]
	bytes int
}

func newContents() *contents {
	c := &contents{}
	var err error
	c.lru, err = simplelru.NewLRU(maxContents, func(_ contentKey, content string) { c.bytes -= len(content) })
	if err != nil {
		panic("store: content cache: " + err.Error()) // only for a size under 1
	}
	return c
}

func (c *contents) get(key contentKey) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(key)
}

func (c *contents) add(key contentKey, content string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(key)
	c.bytes += len(content)
	c.lru.Add(key, content)
	for c.bytes > maxContentBytes && c.lru.Len() > 1 {
		c.lru.RemoveOldest()
	}
}
