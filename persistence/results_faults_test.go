package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/persistence"
)

// putter is the name of a child that stores results.
const putter = "putter"

// putResults stores the results 0 to 19 in session "s", and prints the reference of each. It begins
// again forever with other results if count is 0.
func putResults(path, count string) error {
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for round := 0; round == 0 || count == "0"; round++ {
		for n := range 20 {
			r := numbered(round, n)
			if err := persistence.Results(s).Put(context.Background(), owner, "tool", r); err != nil {
				return err
			}
			fmt.Println(r.Ref)
		}
	}
	return s.Close()
}

// numbered returns a result of up to 900 KB.
func numbered(round, n int) store.Result {
	return result(fmt.Sprint(round, "/", n), n*50_000)
}

func TestProcessesStoreTheSameResults(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	create(t, s, "s")
	children := []*process{startChild(t, path, putter, 1), startChild(t, path, putter, 1)}
	var wg sync.WaitGroup
	for _, p := range children {
		wg.Go(func() {
			if got := len(p.acknowledged(0)); got != 20 {
				t.Errorf("%d results acknowledged", got)
			}
		})
	}
	wg.Wait()
	for _, p := range children {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, p.stderr)
		}
	}
	for n := range 20 {
		if got, err := whole(s, owner, numbered(0, n).Ref); err != nil || got != numbered(0, n).Content {
			t.Errorf("result %d: %d bytes (%v)", n, len(got), err)
		}
	}
	if got := number(t, path, "SELECT count(*) FROM tool_result_blobs"); got != 20 {
		t.Errorf("%d results stored", got)
	}
}

// The child is killed with SIGKILL while it stores results of up to 15 rows.
func TestAKilledProcessLeavesOnlyWholeResults(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	create(t, s, "s")
	acknowledged := map[string]bool{}
	for _, limit := range []int{1, 8, 30} {
		p := startChild(t, path, putter, 0)
		for _, ref := range p.acknowledged(limit) {
			acknowledged[ref] = true
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for _, ref := range p.acknowledged(0) {
			acknowledged[ref] = true
		}
		if err := p.cmd.Wait(); err == nil {
			t.Fatal("the child ended on its own")
		}
	}
	for round := range 1000 {
		for n := range 20 {
			r := numbered(round, n)
			got, err := whole(s, owner, r.Ref)
			if err == nil && got != r.Content || err != nil && !errors.Is(err, store.ErrUnknownRef) {
				t.Errorf("result %d/%d: %d bytes of %d (%v)", round, n, len(got), len(r.Content), err)
			}
			if err != nil && acknowledged[r.Ref] {
				t.Errorf("result %d/%d was acknowledged and is not there", round, n)
			}
			delete(acknowledged, r.Ref)
		}
		if len(acknowledged) == 0 {
			break
		}
	}
	broken := number(t, path, `SELECT count(*) FROM tool_result_blobs b WHERE byte_size <> coalesce(length(content),
		(SELECT sum(length(content)) FROM tool_result_chunks WHERE blob = b.key), 0)`)
	if broken != 0 || len(acknowledged) > 0 {
		t.Errorf("%d results are incomplete, %d acknowledged ones were not found", broken, len(acknowledged))
	}
}

// A full disk refuses a result as a whole. There is room again after a deletion.
func TestAFullDiskStoresNoPartOfAResult(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := small(t, path, 150)
	old := store.Owner{AppName: app, UserID: user, SessionID: "old"}
	create(t, s, "s")
	create(t, s, "old")
	put(t, s, old, result("old", 200_000))
	r := result("large", 400_000)
	err := persistence.Results(s).Put(t.Context(), owner, "tool", r)
	for _, want := range []string{path, "full", "free space"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
	if _, err := whole(s, owner, r.Ref); !errors.Is(err, store.ErrUnknownRef) {
		t.Errorf("the refused result: %v", err)
	}
	if got, err := whole(s, old, result("old", 200_000).Ref); err != nil || len(got) != 200_000 {
		t.Errorf("the result before: %d bytes (%v)", len(got), err)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "old"}); err != nil {
		t.Fatal(err)
	}
	put(t, s, owner, r)
	if got, err := whole(s, owner, r.Ref); err != nil || got != r.Content {
		t.Errorf("after the deletion: %d bytes (%v)", len(got), err)
	}
}

// The log does not keep the size of a large result until the service is closed.
func TestALargeResultLeavesASmallLog(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithSynchronousNormal())
	create(t, s, "s")
	r := result("large", 20_000_000)
	put(t, s, owner, r)
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() > 1_000_000 {
		t.Errorf("the log has %d bytes (%v)", info.Size(), err)
	}
	if got, err := whole(s, owner, r.Ref); err != nil || got != r.Content {
		t.Errorf("%d bytes of %d (%v)", len(got), len(r.Content), err)
	}
	put(t, s, owner, result("small", 10))
	if got := number(t, path, "SELECT wal FROM identity"); got != 0 {
		t.Errorf("the log mark is %d", got)
	}
}

// The log mark survives results of any size, as it survives events.
func TestACopyWithoutTheLogOfResultsSaysSo(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ size, times int }{{1_000, 200}, {60_000, 400}, {1_000_000, 40}, {5_000_000, 5}, {40_000_000, 1}} {
		t.Run(fmt.Sprint(r.size), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path, persistence.WithSynchronousNormal())
			create(t, s, "s")
			for n := range r.times {
				put(t, s, owner, result(fmt.Sprint(n), r.size))
				if n%7 != 6 && n != r.times-1 {
					continue
				}
				put(t, s, owner, result("small", 10+n))
				half := duplicate(t, path)
				if _, err := persistence.NewSQLiteSessionService(half); !errors.Is(err, persistence.ErrLogMissing) {
					t.Fatalf("after %d results: %v", n+1, err)
				}
				if err := os.Remove(half); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestALockedFileRefusesAResultAfterTheTimeout(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithBusyTimeout(10*time.Millisecond))
	create(t, s, "s")
	r := result("a", 100_000)
	unlock := lock(t, path)
	if err := persistence.Results(s).Put(t.Context(), owner, "tool", r); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "WithBusyTimeout") {
		t.Errorf("error %v", err)
	}
	unlock()
	put(t, s, owner, r)
}

func TestAMovedFileTakesAndGivesNoResults(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	create(t, s, "s")
	r := result("a", 100_000)
	put(t, s, owner, r)
	reader, _, err := persistence.Results(s).Open(t.Context(), owner, r.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	_, atErr := reader.ReadAt(make([]byte, 10), 0)
	_, openErr := whole(s, owner, r.Ref)
	for doing, err := range map[string]error{"read": atErr, "open": openErr, "put": persistence.Results(s).Put(t.Context(), owner, "tool", result("b", 9))} {
		if !errors.Is(err, persistence.ErrMoved) {
			t.Errorf("%s: %v", doing, err)
		}
	}
}

// A row that is missing or was changed gives an error, and never other bytes.
func TestDamagedResultsAreReported(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		size      int
		statement string
	}{
		"a missing row":          {200_000, "DELETE FROM tool_result_chunks WHERE number = 1"},
		"the last row":           {200_000, "DELETE FROM tool_result_chunks WHERE number = 3"},
		"all rows":               {200_000, "DELETE FROM tool_result_chunks"},
		"a shorter row":          {200_000, "UPDATE tool_result_chunks SET content = 'short' WHERE number = 2"},
		"a small result":         {100, "UPDATE tool_result_blobs SET content = 'short'"},
		"a small result is NULL": {100, "UPDATE tool_result_blobs SET content = NULL"},
	} {
		path := newPath(t)
		s := open(t, path)
		create(t, s, "s")
		stored := result("a", r.size)
		put(t, s, owner, stored)
		run(r.statement)(t, path)
		got, err := whole(s, owner, stored.Ref)
		if err == nil || errors.Is(err, store.ErrUnknownRef) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
	}
}

// A file without the tables is read as it is, and has no results. A service that writes adds them.
func TestAFileFromBeforeResultsIsReadAndBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := damaged(t, run(testkit.DropSearch, testkit.FirstCompactions(t), "DROP TABLE tool_result_chunks", "DROP TABLE tool_result_blobs", "PRAGMA user_version = 2"))
	same := unchanged(t, path)
	reading := open(t, path, persistence.WithReadOnly())
	if n := get(t, reading, "s").Events().Len(); n != 200 {
		t.Errorf("%d events", n)
	}
	if _, err := whole(reading, owner, result("a", 9).Ref); !errors.Is(err, store.ErrUnknownRef) {
		t.Errorf("a result: %v", err)
	}
	err := reading.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		if found, err := sessionfile.Differences(t.Context(), snap); err != nil || len(found) > 0 {
			t.Errorf("its schema differs from that of its version: %v (%v)", found, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	same()
	s := open(t, path)
	put(t, s, owner, result("a", 70_000))
	if got, err := whole(s, owner, result("a", 70_000).Ref); err != nil || len(got) != 70_000 {
		t.Errorf("after the migration: %d bytes (%v)", len(got), err)
	}
	if n := get(t, s, "s").Events().Len(); n != 200 {
		t.Errorf("%d events after the migration", n)
	}
}
