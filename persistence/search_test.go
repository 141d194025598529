package persistence_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// found returns the IDs of the events that a search finds, the best first.
func found(t testing.TB, s *persistence.SQLiteSessionService, id, question string) []string {
	t.Helper()
	hits, err := s.SearchText(t.Context(), request(id), index.Query{Text: question})
	if err != nil {
		t.Fatal(err)
	}
	return idsOf(hits)
}

func idsOf(hits []index.Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.Event.ID
	}
	return out
}

func TestWordsFindTheirEvents(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess, other := create(t, s, "s"), create(t, s, "other")
	appendTo(t, s, sess, text("1", "The parcel is in Kassel"), text("2", "My cat is called Minou"), text("3", "我喜欢苹果"))
	appendTo(t, s, other, text("o", "Another parcel in Kassel"))
	for question, want := range map[string]string{
		"where is the parcel?":     "[1]",
		"Kassel parcels":           "[1]",
		"name of the cat":          "[2]",
		"苹果":                       "[3]",
		"nothing like this":        "[]",
		`"parcel" AND NEAR(* ^ :)`: "[1]",
		"":                         "[]",
	} {
		if got := fmt.Sprint(found(t, s, "s", question)); got != want {
			t.Errorf("%q finds %s, want %s", question, got, want)
		}
	}
	appendTo(t, s, sess, text("4", "The parcel has left"))
	if got := found(t, s, "s", "parcel"); len(got) < 2 || !slices.Contains(got[:2], "4") {
		t.Errorf("after an append: %v", got)
	}
	if got := number(t, path, "SELECT count(*) FROM search_sessions WHERE indexed_to <> (SELECT last_seq FROM sessions WHERE key = session)"); got != 0 {
		t.Errorf("%d sessions are not indexed up to their ends", got)
	}
	if _, err := s.SearchText(t.Context(), request("missing"), index.Query{Text: "parcel"}); !adk.IsNotFound(err) {
		t.Errorf("a missing session: %v", err)
	}
}
