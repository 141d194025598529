package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/internal/adk"

	"google.golang.org/adk/session"
)

// maxIndexes bounds the sessions whose references are remembered, by last use. An index takes about
// 100 bytes for each result of its session; one that was forgotten is rebuilt with one Get.
const maxIndexes = 128

// Events returns a Source over the events that svc itself stores: every result of a session can be read
// back without storing anything twice, also one that a compaction has summarized, or that the prompt
// shows shortened or masked. A result is readable once its event is stored, and as long as its session
// exists.
//
// If svc is, or unwraps to, a service with the method Raw of a compaction service, Events reads the full
// history with it. Any other decorator is read through its Get, so one that decrypts or maps names
// keeps doing that.
//
// The first read of a session costs one Get of the whole session. From then on Events remembers
// where each result is, and what the newest event was; the next read gets that event and those behind it, which
// shows whether the session is still the same one. A session that was deleted and created again has none of the
// results it had before, whichever process deleted it. Events also keeps up to 64 results of 64 MiB in all in
// memory, and the one read last whatever its size. A reference that no result of the session has costs a whole Get
// again. Services with a method History, such as that of package persistence, are read event by event.
//
// Any number of goroutines may use the source. Reads of one session take turns, and give up when their
// context ends. If svc is nil, every reference is unknown.
func Events(svc session.Service) Source {
	indexes, err := lru.New[Owner, *index](maxIndexes)
	if err != nil {
		panic(fmt.Sprintf("store: index cache: %v", err)) // only for a size under 1
	}
	return &events{history: historyOf(svc), indexes: indexes, contents: newContents()}
}

type events struct {
	history  history
	indexes  *lru.Cache[Owner, *index]
	contents *contents
}

// Open implements Source.
func (e *events) Open(ctx context.Context, owner Owner, ref string) (io.ReaderAt, int64, error) {
	if e.history == nil || !IsRef(ref) || !owner.Whole() {
		return nil, 0, ErrUnknownRef
	}
	ix := e.indexOf(owner)
	content, err := e.read(ctx, ix, ref)
	if errors.Is(err, errAnother) {
		e.forget(ix)
		ix = e.indexOf(owner)
		content, err = e.read(ctx, ix, ref)
	}
	switch {
	case adk.IsNotFound(err), errors.Is(err, errAnother):
		// The session was deleted, and another with its name must not inherit its results.
		e.forget(ix)
		return nil, 0, ErrUnknownRef
	case err != nil:
		return nil, 0, err
	}
	return strings.NewReader(content), int64(len(content)), nil
}

// read returns a result's content, from memory if the session still has it.
func (e *events) read(ctx context.Context, ix *index, ref string) (string, error) {
	if err := ix.acquire(ctx); err != nil {
		// If the one ahead hangs in storage, later readers start with an index of their own.
		e.forget(ix)
		return "", fmt.Errorf("open result %s: %w", ref, err)
	}
	defer ix.release()
	content, found, err := ix.update(ctx, e.history, ref)
	if err != nil {
		return "", err
	}
	if !found {
		if content, kept := e.contents.get(contentKey{ix, ref}); kept {
			return content, nil
		}
		if content, found, err = ix.find(ctx, e.history, ref); err != nil {
			return "", err
		}
	}
	if !found {
		return "", ErrUnknownRef
	}
	e.contents.add(contentKey{ix, ref}, content)
	return content, nil
}

func (e *events) indexOf(owner Owner) *index {
	fresh := newIndex(owner)
	if old, found, _ := e.indexes.PeekOrAdd(owner, fresh); found {
		e.indexes.Get(owner) // marks it as used
		return old
	}
	return fresh
}

// forget drops an index, unless another has taken its place. Contents are kept by index, so they are
// out of reach from then on.
func (e *events) forget(ix *index) {
	if now, found := e.indexes.Peek(ix.owner); found && now == ix {
		e.indexes.Remove(ix.owner)
	}
}
