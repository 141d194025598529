// Package storetest checks that a [store.Store] keeps its contract: results come back byte for byte,
// belong to one session, and are stored whole or not at all.
//
//	func TestMyStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Backend {
//			return storetest.Backend{Store: newMyStore(t)}
//		})
//	}
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Backend is a new and empty store under test.
type Backend struct {
	Store store.Store
	// Create makes the session of an owner exist. If nil, the store takes results of any session.
	Create func(t testing.TB, owner store.Owner)
	// Delete deletes the session of an owner, and must not be nil if Create is not. If nil, the
	// store does not know when a session ends.
	Delete func(t testing.TB, owner store.Owner)
	// MaxBytes is the size of the largest result that the suite stores. 0 is 10 MB, and 1 MB with
	// -short.
	MaxBytes int
}

var (
	ada   = store.Owner{AppName: "app", UserID: "ada", SessionID: "s"}
	other = store.Owner{AppName: "app", UserID: "ada", SessionID: "other"}
)

// Run runs the suite as subtests of t. newBackend is called for each of them.
func Run(t *testing.T, newBackend func(t *testing.T) Backend) {
	t.Helper()
	for _, one := range []struct {
		name  string
		check func(*testing.T, *suite)
	}{
		{"results come back byte for byte", roundTrips},
		{"any part of a result can be read", parts},
		{"storing again changes nothing", again},
		{"many goroutines store one result", together},
		{"only the session of a result reads it", strangers},
		{"every reference without a result has the same answer", unknown},
		{"names and contents may have any characters", hostile},
		{"a canceled Put is stored or returns an error", canceled},
		{"a session that does not exist is refused", missing},
		{"deleting a session takes its results and no others", deleted},
		{"a deletion during a reading", deletedWhileRead},
	} {
		t.Run(one.name, func(t *testing.T) {
			s := &suite{newBackend(t)}
			s.create(t, ada)
			s.create(t, other)
			one.check(t, s)
		})
	}
}

type suite struct{ Backend }

func (s *suite) create(t testing.TB, owner store.Owner) {
	t.Helper()
	if s.Create != nil {
		s.Create(t, owner)
	}
}

func (s *suite) largest() int {
	switch {
	case s.MaxBytes > 0:
		return s.MaxBytes
	case testing.Short():
		return 1_000_000
	}
	return 10_000_000
}

// resultOf returns a result with a text of some size: bytes of any value, also such that are no UTF-8.
func resultOf(size int) store.Result {
	text := make([]byte, size)
	random := rand.New(rand.NewPCG(uint64(size), 1))
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	r := store.ResultOf(map[string]any{"output": string(text)})
	return r
}

func (s *suite) put(t testing.TB, owner store.Owner, r store.Result) {
	t.Helper()
	if err := s.Store.Put(t.Context(), owner, "tool", r); err != nil {
		t.Fatalf("put %d bytes: %v", len(r.Content), err)
	}
}

// has checks that a session has a result, whole.
func (s *suite) has(t testing.TB, owner store.Owner, r store.Result) {
	t.Helper()
	got, err := s.read(t.Context(), owner, r.Ref)
	if err != nil || string(got) != r.Content {
		t.Errorf("%v: read %d bytes, want %d, equal: %v, error %v", owner, len(got), len(r.Content), string(got) == r.Content, err)
	}
}

// hasNot checks that a session has no result of this reference.
func (s *suite) hasNot(t testing.TB, owner store.Owner, ref string) {
	t.Helper()
	if got, err := s.read(t.Context(), owner, ref); !errors.Is(err, store.ErrUnknownRef) {
		t.Errorf("%v has %d bytes under %q (%v), want ErrUnknownRef", owner, len(got), ref, err)
	}
}

// read returns a whole result.
func (s *suite) read(ctx context.Context, owner store.Owner, ref string) ([]byte, error) {
	r, size, err := s.Store.Open(ctx, owner, ref)
	if err != nil {
		return nil, err
	}
	defer closeReader(r)
	return io.ReadAll(io.NewSectionReader(r, 0, size))
}

func closeReader(r io.ReaderAt) {
	if c, ok := r.(io.Closer); ok {
		_ = c.Close()
	}
}

func roundTrips(t *testing.T, s *suite) {
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, s.largest()} {
		if size > s.largest() {
			continue
		}
		r := resultOf(size)
		s.put(t, ada, r)
		s.has(t, ada, r)
	}
	for _, response := range []map[string]any{nil, {}, {"output": ""}, {"a": 1, "b": []any{"x", nil}}, {"error": "a\x00b\xff<&>\u2028"}} {
		r := store.ResultOf(response)
		s.put(t, ada, r)
		s.has(t, ada, r)
	}
}

func parts(t *testing.T, s *suite) {
	const chunk = 64 << 10
	r := resultOf(min(3*chunk+100, s.largest()))
	s.put(t, ada, r)
	reader, length, err := s.Store.Open(t.Context(), ada, r.Ref)
	if err != nil || length != int64(len(r.Content)) {
		t.Fatalf("length %d, want %d (%v)", length, len(r.Content), err)
	}
	defer closeReader(reader)
	for _, off := range []int64{0, 1, chunk - 1, chunk, chunk + 1, 2*chunk - 5, length - 1, length, length + 1, length + chunk} {
		for _, size := range []int{0, 1, 4096, chunk, chunk + 1, len(r.Content)} {
			p := bytes.Repeat([]byte{'?'}, size)
			n, err := reader.ReadAt(p, off)
			want := r.Content[min(off, length):min(off+int64(size), length)]
			if string(p[:n]) != want {
				t.Errorf("%d bytes at %d: read %d, want %d", size, off, n, len(want))
			}
			if n < size && err != io.EOF || n == size && err != nil && err != io.EOF {
				t.Errorf("%d bytes at %d: error %v after %d bytes", size, off, err, n)
			}
		}
	}
	if n, err := reader.ReadAt(make([]byte, 1), -1); n != 0 || err == nil || err == io.EOF {
		t.Errorf("at -1: %d bytes, error %v", n, err)
	}
}

func again(t *testing.T, s *suite) {
	r := resultOf(min(100_000, s.largest()))
	for range 3 {
		s.put(t, ada, r)
	}
	if err := s.Store.Put(t.Context(), ada, "another tool", r); err != nil {
		t.Error(err)
	}
	s.has(t, ada, r)
}

func together(t *testing.T, s *suite) {
	r := resultOf(min(200_000, s.largest()))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Store.Put(t.Context(), ada, "tool", r); err != nil {
				t.Error(err)
			}
			got, err := s.read(t.Context(), ada, r.Ref)
			if err != nil || string(got) != r.Content {
				t.Errorf("after Put: %d bytes (%v)", len(got), err)
			}
		})
	}
	wg.Wait()
	s.has(t, ada, r)
}

func strangers(t *testing.T, s *suite) {
	r := resultOf(1000)
	s.put(t, ada, r)
	for _, owner := range []store.Owner{
		other, {AppName: "app", UserID: "bob", SessionID: "s"}, {AppName: "other", UserID: "ada", SessionID: "s"},
		{}, {AppName: "app", UserID: "ada"}, {AppName: "app", SessionID: "s"},
		{AppName: "app/ada", UserID: "s", SessionID: "."}, {AppName: "ap", UserID: "pada", SessionID: "s"},
	} {
		s.hasNot(t, owner, r.Ref)
	}
	s.put(t, other, r)
	s.has(t, other, r)
	s.has(t, ada, r)
}

func unknown(t *testing.T, s *suite) {
	r := resultOf(1000)
	s.put(t, ada, r)
	_, _, want := s.Store.Open(t.Context(), ada, resultOf(1001).Ref)
	for _, ref := range []string{
		"", "r-", r.Ref[2:], r.Ref + "0", r.Ref + "\x00", " " + r.Ref, strings.ToUpper(r.Ref), "r-zzzzzzzzzzzzzzzz",
		"../" + r.Ref, "r-%%%%%%%%%%%%%%%%", strings.Repeat("r", 1<<16), r.Ref + "' OR '1'='1",
	} {
		_, _, err := s.Store.Open(t.Context(), ada, ref)
		if !errors.Is(err, store.ErrUnknownRef) || err.Error() != want.Error() {
			t.Errorf("%.40q: %v, want %v as for any other", ref, err, want)
		}
	}
	_, _, err := s.Store.Open(t.Context(), other, r.Ref)
	if err == nil || err.Error() != want.Error() {
		t.Errorf("the result of another session: %v, want %v", err, want)
	}
}

func hostile(t *testing.T, s *suite) {
	r := resultOf(10)
	for i, name := range []string{"..", "../../x", "a/b\\c", "é漢\u202e", "a\nb\x00c", strings.Repeat("x", 300), "CON", "-", "%2e%2e", "'; DROP TABLE x"} {
		owner := store.Owner{AppName: name, UserID: name, SessionID: name}
		if s.Create == nil || !strings.Contains(name, "\x00") {
			s.create(t, owner)
			s.put(t, owner, r)
			s.has(t, owner, r)
		}
		if err := s.Store.Put(t.Context(), ada, name, resultOf(20+i)); err != nil {
			t.Errorf("tool %q: %v", name, err)
		}
		s.has(t, ada, resultOf(20+i))
	}
}

func canceled(t *testing.T, s *suite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := resultOf(1000)
	if err := s.Store.Put(ctx, ada, "tool", r); err != nil {
		s.hasNot(t, ada, r.Ref)
		return
	}
	s.has(t, ada, r)
}

func missing(t *testing.T, s *suite) {
	if s.Create == nil {
		t.Skip("this store takes results of any session")
	}
	nobody := store.Owner{AppName: "app", UserID: "ada", SessionID: "nobody"}
	for _, size := range []int{10, min(100_000, s.largest())} {
		r := resultOf(size)
		if err := s.Store.Put(t.Context(), nobody, "tool", r); err == nil {
			t.Errorf("a result of %d bytes is stored for a session that does not exist", size)
		}
		s.hasNot(t, nobody, r.Ref)
		s.hasNot(t, ada, r.Ref)
	}
	s.create(t, nobody)
	s.hasNot(t, nobody, resultOf(10).Ref)
}

func deleted(t *testing.T, s *suite) {
	if s.Delete == nil {
		t.Skip("this store does not know when a session ends")
	}
	small, large := resultOf(10), resultOf(min(200_000, s.largest()))
	for _, owner := range []store.Owner{ada, other} {
		s.put(t, owner, small)
		s.put(t, owner, large)
	}
	s.Delete(t, ada)
	for _, r := range []store.Result{small, large} {
		s.hasNot(t, ada, r.Ref)
		s.has(t, other, r)
	}
	s.create(t, ada) // again, under the same name
	s.hasNot(t, ada, large.Ref)
	s.put(t, ada, large)
	s.has(t, ada, large)
}

// A reading during which the session is deleted returns the right bytes or an error.
func deletedWhileRead(t *testing.T, s *suite) {
	if s.Delete == nil {
		t.Skip("this store does not know when a session ends")
	}
	r := resultOf(min(500_000, s.largest()))
	s.put(t, ada, r)
	reader, size, err := s.Store.Open(t.Context(), ada, r.Ref)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader(reader)
	var wg sync.WaitGroup
	started := make(chan struct{})
	var once sync.Once
	for lane := range 4 {
		wg.Go(func() {
			for off := int64(lane); off < size; off += 4096 {
				p := make([]byte, 1024)
				n, err := reader.ReadAt(p, off)
				once.Do(func() { close(started) })
				if err == nil || err == io.EOF {
					if string(p[:n]) != r.Content[off:min(off+1024, size)] {
						t.Error(fmt.Sprint("wrong bytes at ", off))
					}
				} else if !errors.Is(err, store.ErrUnknownRef) {
					t.Errorf("after the deletion: %v", err)
				}
			}
		})
	}
	<-started
	s.Delete(t, ada)
	wg.Wait()
	// A later result must not be read through the old reader.
	s.put(t, other, resultOf(int(size)-1))
	s.create(t, ada)
	s.put(t, ada, resultOf(int(size)-2))
	p := make([]byte, 1024)
	n, err := reader.ReadAt(p, 0)
	if err == nil && string(p[:n]) != r.Content[:n] || err != nil && !errors.Is(err, store.ErrUnknownRef) {
		t.Errorf("through the reader of the deleted result: %d bytes, error %v", n, err)
	}
}
