package mcp_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// soon is how long a run waits for a server that hangs. Tests that use it first wait until the server works.
const soon = 300 * time.Millisecond

// known is a tool of the catalog.
const known = "create_issue"

func TestAServerThatIsDownAtStartCostsNoTurn(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"die", "hang"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, plan{Start: how})
			g, seen := group(t, s.toolset(), soon)
			a := newApp(t, nil, g)
			a.turn()
			a.turn()
			if got := declared(a.last()); len(got) > 0 {
				t.Errorf("tools of a server that is down: %v", got)
			}
			if got := seen.kinds(t, g); len(got) != 1 {
				t.Errorf("observed %v", got)
			}
			s.follow(plan{})
			a.until(known)
			if got := seen.kinds(t, g); len(got) < 2 {
				t.Errorf("observed %v", got)
			}
			if got := a.turn(calls(known, map[string]any{"owner": "o"})); len(got) != 1 || !contains(got[0], "ran "+known) {
				t.Errorf("its tools do not run: %+v", got)
			}
		})
	}
}

func TestAServerThatFailsBetweenTurnsKeepsItsTools(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"die", "hang", "error"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, plan{})
			g, seen := group(t, s.toolset(), soon)
			a := newApp(t, nil, g)
			a.until(known)
			want := declared(a.last())
			before := len(seen.kinds(t, g))
			s.follow(plan{List: how})
			a.turn()
			if got := declared(a.last()); !slices.Equal(got, want) {
				t.Errorf("%d tools are left of %d", len(got), len(want))
			}
			s.follow(plan{Without: []string{known}})
			for a.ctx.Err() == nil && len(declared(a.last())) == len(want) {
				a.turn()
			}
			if len(seen.kinds(t, g)) < before+2 {
				t.Error("nothing was reported")
			}
		})
	}
}

func TestAServerThatFailsInATurnCostsNoTurn(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"die", "hang", "error"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, plan{})
			g, _ := group(t, s.toolset(), soon)
			a := newApp(t, nil, g)
			a.until(known)
			got := a.turn(func(req *model.LLMRequest) *genai.Content {
				s.follow(plan{Call: how}) // the list is read by now
				return calls(known, nil)(req)
			})
			if len(got) != 1 || got[0].Response["error"] == nil {
				t.Errorf("the model reads %+v", got)
			}
			s.follow(plan{})
			for a.ctx.Err() == nil {
				if got = a.turn(calls(known, nil)); contains(got[0], "ran "+known) {
					break
				}
			}
		})
	}
}

func TestAServerThatWasKilledIsStartedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t, plan{})
	g, _ := group(t, s.toolset(), time.Minute)
	a := newApp(t, nil, g)
	a.until(known)
	s.kill()
	if got := a.turn(calls(known, nil), calls(known, nil)); len(got) != 2 || !contains(got[0], "ran "+known) || !contains(got[1], "ran "+known) {
		t.Errorf("the model reads %+v", got)
	}
	if s.processes() != 2 {
		t.Errorf("%d processes were started", s.processes())
	}
}
