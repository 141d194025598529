package persistence

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// merging opens a service with indexed sessions of so many events of 100 words each.
func merging(t *testing.T, sessions map[string]int) *SQLiteSessionService {
	t.Helper()
	s, err := NewSQLiteSessionService(filepath.Join(t.TempDir(), "x.db"), WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	for id, events := range sessions {
		resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		for n := range events {
			var words strings.Builder
			for range 100 {
				fmt.Fprintf(&words, "w%d ", random.IntN(1_000_000))
			}
			ev := &session.Event{
				ID: fmt.Sprint(n), Author: "user", InvocationID: "i", Timestamp: time.Unix(1_700_000_000+int64(n), 0),
				LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(words.String(), genai.RoleUser)},
			}
			if err := s.AppendEvent(t.Context(), resp.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
		get := &session.GetRequest{AppName: "a", UserID: "u", SessionID: id}
		if _, err := s.SearchText(t.Context(), get, index.Query{Text: "w1"}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// counted runs a query on the writer's connection.
func counted(t *testing.T, s *SQLiteSessionService, query string) (n int) {
	t.Helper()
	err := s.submit(t.Context(), &write{run: func(w *writer) error {
		return w.Conn.QueryRowContext(context.Background(), query).Scan(&n)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	mergesItself = "SELECT NOT EXISTS (SELECT 1 FROM search_config WHERE k = 'automerge' AND v = 0)"
	mergeShare   = "SELECT coalesce((SELECT v FROM search_config WHERE k = 'deletemerge'), 10)"
	segments     = "SELECT count(DISTINCT segid) FROM search_idx"
	pages        = "SELECT count(*) FROM search_data"
)

// Indexing merges as it goes: 20 portions are 20 segments, and FTS5 itself would merge 16 of them in one transaction.
func TestIndexingMergesInSteps(t *testing.T) {
	t.Parallel()
	s := merging(t, map[string]int{"s": 20 * 64})
	if n := counted(t, s, mergesItself); n != 0 {
		t.Error("FTS5 merges by itself")
	}
	if n := counted(t, s, segments); n > 8 {
		t.Errorf("the index has %d segments", n)
	}
}

// hidden deletes the row of a session alone, as a deletion begins.
func hidden(t *testing.T, s *SQLiteSessionService, id string) {
	t.Helper()
	err := s.submit(t.Context(), &write{alone: true, run: func(w *writer) error {
		if _, err := w.Conn.ExecContext(context.Background(), listForErasing, "a", "u", id); err != nil {
			return err
		}
		return w.do(w.removeSession, "a", "u", id)
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// No transaction of a deletion goes through the whole index, and in the end the words of the session have left it: those of
// one that was alone in it, and those of one with a fifth of it.
func TestADeletionMergesTheIndexInSteps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sessions map[string]int
		// left is how much of the index may be left, in percent. It is more than the other sessions have, because the steps,
		// and so the segments that are merged, depend on how long each takes. Without merging it is over 100.
		left int
	}{
		"alone":   {map[string]int{"gone": 1_200}, 5},
		"a fifth": {map[string]int{"gone": 300, "kept": 1_200}, 97},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := merging(t, tt.sessions)
			begun := counted(t, s, pages)
			hidden(t, s, "gone")
			e := erasure{remover: remover{s}}
			largest, before := 0, begun
			for done := false; !done; {
				var err error
				if done, _, err = e.portion(t.Context()); err != nil {
					t.Fatal(err)
				}
				now := counted(t, s, pages)
				largest, before = max(largest, before-now), now
			}
			t.Logf("%d pages, %d in the end, at most %d fewer after one transaction", begun, before, largest)
			if largest > begun/2 {
				t.Errorf("one transaction removed %d of %d pages, want at most %d", largest, begun, begun/2)
			}
			if before > begun*tt.left/100 {
				t.Errorf("%d of %d pages are left", before, begun)
			}
			if n := counted(t, s, mergeShare); n != 40 {
				t.Errorf("the share of deleted rows is %d, want 40", n)
			}
			if n := counted(t, s, "SELECT (SELECT count(*) FROM erasing) + (SELECT count(*) FROM search_docsize WHERE id NOT IN (SELECT key FROM events))"); n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
}
