//go:build unix

package mcp_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A process that is stopped reads nothing. The go-sdk then hangs in a write to its pipe, whatever the
// context says, and holds a lock that every later call needs.
func TestAServerThatReadsNothingCostsNoTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t, plan{})
	g, seen := group(t, s.toolset(), soon)
	a := newApp(t, nil, g)
	a.until(known)
	want := declared(a.last())
	if err := s.newest.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := len(seen.kinds(t, g))
	large := map[string]any{"title": strings.Repeat("x", 1<<20)}
	for range 2 {
		got := a.turn(calls(known, large), calls(known, nil))
		if len(got) != 2 || got[0].Response["error"] == nil || got[1].Response["error"] == nil {
			t.Errorf("the tools returned %+v", got)
		}
	}
	if got := declared(a.last()); !slices.Equal(got, want) || len(seen.kinds(t, g)) != before+1 {
		t.Errorf("%d tools are left of %d; observed %v", len(got), len(want), seen.kinds(t, g))
	}
}
