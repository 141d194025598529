package store

import (
	"context"
	"io"
	"strings"
	"sync"
)

// defaultQuota bounds a store that is given no bound: 256 MiB.
const defaultQuota = 256 << 20

// Memory is a Store in the memory of this process. It is safe for concurrent use.
type Memory struct {
	max int64

	mu      sync.RWMutex
	results map[Owner]map[string]string
	used    int64
}

// NewMemory returns an empty Memory for at most maxBytes of contents. 0 or less means 256 MiB. A full
// store refuses new results with a [*QuotaError]. It keeps those it has until [Memory.Drop].
func NewMemory(maxBytes int64) *Memory {
	if maxBytes <= 0 {
		maxBytes = defaultQuota
	}
	return &Memory{max: maxBytes, results: map[Owner]map[string]string{}}
}

// Put implements Store.
func (m *Memory) Put(ctx context.Context, owner Owner, _ string, result Result) error {
	if err := check(ctx, owner, result); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.results[owner]
	if _, stored := of[result.Ref]; stored {
		return nil
	}
	size := int64(len(result.Content))
	if size > m.max-m.used {
		return &QuotaError{Size: size, Used: m.used, Max: m.max}
	}
	if of == nil {
		of = map[string]string{}
		m.results[owner] = of
	}
	// A copy, because the text may be a small part of something large.
	of[result.Ref] = strings.Clone(result.Content)
	m.used += size
	return nil
}

// Open implements Source.
func (m *Memory) Open(_ context.Context, owner Owner, ref string) (io.ReaderAt, int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	content, stored := m.results[owner][ref]
	if !stored {
		return nil, 0, ErrUnknownRef
	}
	return strings.NewReader(content), int64(len(content)), nil
}

// Drop forgets all results of a session. Call it when the session is deleted.
func (m *Memory) Drop(owner Owner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, content := range m.results[owner] {
		m.used -= int64(len(content))
	}
	delete(m.results, owner)
}
