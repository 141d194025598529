package persistence

import (
	"context"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// What a search without the index of the file keeps in memory of a session is forgotten when the session is deleted.
func TestADeletionForgetsWhatASearchKeptInMemory(t *testing.T) {
	t.Parallel()
	s := merging(t, map[string]int{"s": 10})
	before := s.text.KeptBytes()
	// Without its index, the session is searched in memory.
	rename := func(from, to string) {
		t.Helper()
		err := s.submit(t.Context(), &write{run: func(w *writer) error {
			_, err := w.Conn.ExecContext(context.Background(), "ALTER TABLE "+from+" RENAME TO "+to)
			return err
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	rename("search_sessions", "elsewhere")
	get := &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"}
	if _, err := s.SearchText(t.Context(), get, index.Query{Text: "w1"}); err != nil {
		t.Fatal(err)
	}
	rename("elsewhere", "search_sessions")
	if s.text.KeptBytes() <= before {
		t.Fatal("nothing was kept in memory, so the test proves nothing")
	}
	if err := s.Delete(context.Background(), &session.DeleteRequest{AppName: "a", UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if n := s.text.KeptBytes(); n != before {
		t.Errorf("%d bytes are left in memory, want %d", n, before)
	}
}
