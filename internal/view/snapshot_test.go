package view_test

import (
	"iter"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
)

// fixed is a list of events as a backend hands it out.
type fixed []*session.Event

func (f fixed) All() iter.Seq[*session.Event] { return slices.Values(f) }
func (f fixed) Len() int                      { return len(f) }
func (f fixed) At(i int) *session.Event       { return f[i] }

func TestFromCutsTheFront(t *testing.T) {
	t.Parallel()
	all := view.NewSnapshot(turns(2).Events)
	for from, want := range map[int]string{-1: "e1 e2 e3 e4", 0: "e1 e2 e3 e4", 3: "e4", 4: "", 9: ""} {
		if got := ids(all.From(from).Slice()); got != want {
			t.Errorf("from %d on the view is %q, want %q", from, got, want)
		}
	}
}
