package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
)

// defaultQuota bounds a store that is given no bound: 256 MiB.
const defaultQuota = 256 << 20

// QuotaError says that a store has no room for a result. Nothing was deleted to make room: a result that
// a model still refers to must not disappear.
type QuotaError struct {
	// Size, Used and Max are bytes: of the refused result, of what is stored, and the most that may be.
	Size, Used, Max int64
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("a result of %d bytes does not fit: %d of %d bytes are used; drop sessions that are over, or raise the limit", e.Size, e.Used, e.Max)
}

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

// check refuses what no store takes.
func check(ctx context.Context, owner Owner, result Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !owner.whole() {
		return fmt.Errorf("store a result of app %q, user %q, session %q: each of them must have a name", owner.AppName, owner.UserID, owner.SessionID)
	}
	if !IsRef(result.Ref) {
		return fmt.Errorf("store a result as %.40q: that is no reference; use ResultOf", result.Ref)
	}
	return nil
}

// whole reports whether an owner names a session.
func (o Owner) whole() bool { return o.AppName != "" && o.UserID != "" && o.SessionID != "" }

// hash returns 32 hexadecimal digits for a session, or a result of it. The lengths of the names are hashed
// along, so that no two sessions have the same.
func (o Owner) hash(ref string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s%s%s%s", len(o.AppName), len(o.UserID), len(o.SessionID), o.AppName, o.UserID, o.SessionID, ref))
	return hex.EncodeToString(sum[:16])
}
