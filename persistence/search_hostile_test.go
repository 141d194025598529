package persistence_test

import (
	"math"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// A function of the app's that fails must not end the process: an index is made in goroutines of its own.
func TestARedactThatPanicsIsAnError(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	appendTo(t, s, create(t, s, "s"), text("1", "The parcel is in Kassel"))
	panics := func(string) string { panic("no pattern") }
	if hits, err := s.SearchText(t.Context(), request("s"), index.Query{Text: "parcel", Redact: panics}); err == nil || len(hits) > 0 {
		t.Errorf("a search: %v, %v", hits, err)
	}
	if got := found(t, s, "s", "parcel"); len(got) != 1 {
		t.Errorf("after the panic, a search finds %v", got)
	}
	if err := s.IndexText(t.Context(), request("s"), panics); err != nil {
		t.Errorf("there was nothing to index: %v", err)
	}
}

func TestALimitThatIsTooHighIsCut(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	appendTo(t, s, create(t, s, "s"), text("1", "The parcel is in Kassel"))
	hits, err := s.SearchText(t.Context(), request("s"), index.Query{Text: "parcel", Limit: math.MaxInt})
	if err != nil || len(hits) != 1 {
		t.Errorf("got %v, %v", hits, err)
	}
}

// A panic of the app's functions goes through to the app, and must not take a connection with it.
func TestAMayThatPanicsBreaksNoConnection(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	appendTo(t, s, create(t, s, "s"), text("1", "The parcel is in Kassel"))
	for range 20 {
		func() {
			defer func() { _ = recover() }()
			_, _ = s.SearchText(t.Context(), request("s"), index.Query{Text: "parcel", May: func(*session.Event) bool { panic("no rule") }})
		}()
	}
	if _, err := s.Get(t.Context(), request("s")); err != nil {
		t.Error(err)
	}
	appendTo(t, s, create(t, s, "s2"), text("1", "The parcel is in Kassel"))
	if got := found(t, s, "s2", "parcel"); len(got) != 1 {
		t.Errorf("after panics, a search finds %v", got)
	}
}
