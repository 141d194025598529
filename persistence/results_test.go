package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolresult/store/storetest"
	"github.com/adk-go-ext/longsession/persistence"
)

var owner = store.Owner{AppName: app, UserID: user, SessionID: "s"}

// result returns a result with a text of some size.
func result(name string, size int) store.Result {
	return store.ResultOf(map[string]any{"output": (name + strings.Repeat(" "+name, size/(len(name)+1)+1))[:size]})
}

func put(t testing.TB, s *persistence.SQLiteSessionService, to store.Owner, r store.Result) {
	t.Helper()
	if err := persistence.Results(s).Put(context.Background(), to, "tool", r); err != nil {
		t.Fatal(err)
	}
}

func whole(s *persistence.SQLiteSessionService, of store.Owner, ref string) (string, error) {
	r, size, err := persistence.Results(s).Open(context.Background(), of, ref)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	return string(data), err
}

func TestResultsKeepTheContractOfStores(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(*testing.T) string{
		"file":   newPath,
		"memory": func(*testing.T) string { return ":memory:" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Backend {
				s := open(t, path(t))
				return storetest.Backend{
					Store: persistence.Results(s),
					Create: func(t testing.TB, o store.Owner) {
						t.Helper()
						if _, err := s.Create(t.Context(), &session.CreateRequest{AppName: o.AppName, UserID: o.UserID, SessionID: o.SessionID}); err != nil {
							t.Fatal(err)
						}
					},
					Delete: func(t testing.TB, o store.Owner) {
						t.Helper()
						if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: o.AppName, UserID: o.UserID, SessionID: o.SessionID}); err != nil {
							t.Fatal(err)
						}
					},
				}
			})
		})
	}
}

func TestResultsSurviveReopeningAndReadOnly(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "s")
	small, large := result("small", 100), result("large", 300_000)
	put(t, s, owner, small)
	put(t, s, owner, large)
	reader, _, err := persistence.Results(s).Open(t.Context(), owner, large.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, atErr := reader.ReadAt(make([]byte, 10), 0)
	_, _, openErr := persistence.Results(s).Open(t.Context(), owner, small.Ref)
	for doing, err := range map[string]error{"read": atErr, "open": openErr, "put": persistence.Results(s).Put(t.Context(), owner, "tool", small)} {
		if !errors.Is(err, persistence.ErrClosed) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s on a closed service: %v", doing, err)
		}
	}
	for name, opts := range map[string][]persistence.Option{"for writing": nil, "for reading": {persistence.WithReadOnly()}} {
		again := open(t, path, opts...)
		for _, r := range []store.Result{small, large} {
			if got, err := whole(again, owner, r.Ref); err != nil || got != r.Content {
				t.Errorf("%s: %d bytes of %d (%v)", name, len(got), len(r.Content), err)
			}
		}
		if opts != nil {
			if err := persistence.Results(again).Put(t.Context(), owner, "tool", result("new", 9)); !errors.Is(err, persistence.ErrReadOnly) {
				t.Errorf("put into a file that is read: %v", err)
			}
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnusableResultsAreRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	create(t, s, "s")
	for name, r := range map[string]struct {
		owner  store.Owner
		result store.Result
		want   string
	}{
		"no session":          {store.Owner{AppName: app, UserID: user, SessionID: "none"}, result("a", 9), `"none"`},
		"no name of the user": {store.Owner{AppName: app, SessionID: "s"}, result("a", 9), "are required"},
		"no reference":        {owner, store.Result{Content: "a"}, "use store.ResultOf"},
		"a foreign reference": {owner, store.Result{Ref: "x-1", Content: "a"}, `"x-1"`},
	} {
		err := persistence.Results(s).Put(t.Context(), r.owner, "tool", r.result)
		if err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := number(t, path, "SELECT count(*) FROM tool_result_blobs"); got != 0 {
		t.Errorf("%d results are stored", got)
	}
}

// A result and the events around it share commits, and the failure of one harms no other.
func TestResultsAndEventsAreStoredTogether(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	gone := store.Owner{AppName: app, UserID: user, SessionID: "gone"}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 10 {
				name := fmt.Sprint(g, "/", n)
				if err := s.AppendEvent(context.Background(), sess, text(name, "")); err != nil {
					t.Error(err)
				}
				r := result(name, 1+n*20_000)
				if err := persistence.Results(s).Put(context.Background(), gone, "tool", r); !adk.IsNotFound(err) {
					t.Errorf("a session that does not exist: %v", err)
				}
				if err := persistence.Results(s).Put(context.Background(), owner, "tool", r); err != nil {
					t.Error(err)
				}
				if got, err := whole(s, owner, r.Ref); err != nil || got != r.Content {
					t.Errorf("%d bytes of %d (%v)", len(got), len(r.Content), err)
				}
			}
		})
	}
	wg.Wait()
	if n := checkChains(t, path); n != 80 {
		t.Errorf("%d events", n)
	}
	if n := number(t, path, "SELECT count(*) FROM tool_result_blobs"); n != 80 {
		t.Errorf("%d results", n)
	}
}

// Deleting a session removes the rows of its results, and overwrites their bytes.
func TestDeletedResultsAreNotInTheFileAnyMore(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	kept, gone := owner, store.Owner{AppName: app, UserID: user, SessionID: "gone"}
	create(t, s, kept.SessionID)
	create(t, s, gone.SessionID)
	for _, size := range []int{50, 5000, 65_536, 65_537, 1_000_000} {
		put(t, s, gone, result(secret, size))
		put(t, s, kept, result("kept", size))
	}
	if len(secrets(t, path)) == 0 {
		t.Fatal("the secret is not in the file before the deletion, so the test proves nothing")
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "gone"}); err != nil {
		t.Fatal(err)
	}
	if found := secrets(t, path); len(found) > 0 {
		t.Errorf("after the deletion: %v", found)
	}
	if blobs, chunks := number(t, path, "SELECT count(*) FROM tool_result_blobs"), number(t, path, "SELECT count(*) FROM tool_result_chunks"); blobs != 5 || chunks != 2+16 {
		t.Errorf("%d results with %d rows are left", blobs, chunks)
	}
}
