package toolresult

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// textCache remembers where the lines of the texts read last are, and the fields that were decoded. It is
// safe for concurrent use.
type textCache struct {
	mu     sync.Mutex
	lines  *simplelru.LRU[textKey, *lineIndex]
	fields *simplelru.LRU[textKey, string]
	bytes  int // of fields
}

// textKey names a text: a result of a session, or a field of it.
type textKey struct {
	owner      store.Owner
	ref, field string
}

// maxFields and maxFieldBytes bound the decoded fields that are kept. The newest is kept whatever its
// size.
const (
	maxFields     = 16
	maxFieldBytes = 16 << 20
	maxLineIndex  = 128
)

func newTextCache() (*textCache, error) {
	c := &textCache{}
	var err error
	if c.lines, err = simplelru.NewLRU[textKey, *lineIndex](maxLineIndex, nil); err != nil {
		return nil, err
	}
	c.fields, err = simplelru.NewLRU(maxFields, func(_ textKey, s string) { c.bytes -= len(s) })
	return c, err
}

// index returns the line index of a text. If it is not known and not needed, it returns nil.
func (c *textCache) index(t resultText, key textKey, needed bool) (*lineIndex, error) {
	c.mu.Lock()
	index, known := c.lines.Get(key)
	c.mu.Unlock()
	if known || !needed {
		return index, nil
	}
	index, err := newLineIndex(t)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines.Add(key, index)
	return index, nil
}
