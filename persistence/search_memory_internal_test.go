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
	before := s.inMemory().Bytes()
	of := &indexer{s, &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"}, nil}
	if _, err := of.searchEvents(t.Context(), index.Query{Text: "w1"}); err != nil {
		t.Fatal(err)
	}
	if s.inMemory().Bytes() <= before {
		t.Fatal("nothing was kept in memory, so the test proves nothing")
	}
	if err := s.Delete(context.Background(), &session.DeleteRequest{AppName: "a", UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if n := s.inMemory().Bytes(); n != before {
		t.Errorf("%d bytes are left in memory, want %d", n, before)
	}
}
