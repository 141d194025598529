package persistence_test

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// History returns hidden events and records too, and events appended later.
func TestHistoryPagesThroughEverything(t *testing.T) {
	t.Parallel()
	s := stores(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2", "e3"))
	want := ids(get(t, s, "s"))
	for _, limit := range []int{1, 4, 9, 100} {
		var got []string
		next := int64(0)
		for {
			page, after, err := s.History(t.Context(), request("s"), next, limit)
			if err != nil {
				t.Fatal(err)
			}
			if next = after; len(page) == 0 {
				break
			}
			if len(page) > limit {
				t.Fatalf("%d events on a page with limit %d", len(page), limit)
			}
			got = append(got, ct.IDs(page)...)
		}
		if !slices.Equal(got, want) || next != int64(len(want))+1 {
			t.Errorf("pages of %d hold %v and end before %d, want %v", limit, got, next, want)
		}
	}
	appendTo(t, s, get(t, s, "s"), text("later", "more"))
	page, next, err := s.History(t.Context(), request("s"), int64(len(want))+1, 10)
	if err != nil || fmt.Sprint(ct.IDs(page)) != "[later]" || next != int64(len(want))+2 {
		t.Errorf("a grown session continues with %v, then %d, %v", ct.IDs(page), next, err)
	}
}

func TestHistoryOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	create(t, s, "s")
	if _, _, err := s.History(t.Context(), request("other"), 0, 1); !adk.IsNotFound(err) {
		t.Errorf("no such session: %v", err)
	}
	if _, err := s.GetActive(t.Context(), request("other")); !adk.IsNotFound(err) {
		t.Errorf("no such session: %v", err)
	}
	for _, err := range []error{
		second(s.History(t.Context(), request("s"), -1, 1)), second(s.History(t.Context(), request("s"), 0, 0)), second(s.History(t.Context(), request(""), 0, 1)),
	} {
		if err == nil {
			t.Error("an invalid request is answered")
		}
	}
}

func second(_ []*session.Event, _ int64, err error) error { return err }
