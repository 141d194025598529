package lives_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// size is a random size, from 1 token to three windows: every order of magnitude is as likely as the next.
func size(r *rand.Rand, window int) int {
	n := 1 + r.IntN(8)
	for r.IntN(4) > 0 && n < 3*window {
		n = n*2 + r.IntN(n)
	}
	return min(n, 3*window)
}

// anyTurn is a turn of random sizes, with a random end.
func anyTurn(r *rand.Rand, window int) turn {
	u := turn{text: size(r, window), fails: r.IntN(8) == 0, leaves: r.IntN(12) == 0}
	if r.IntN(5) == 0 {
		u.attachment = size(r, window)
	}
	for range r.IntN(3) {
		s := step{result: size(r, window)}
		if r.IntN(4) == 0 {
			s.thought = size(r, window)
		}
		if r.IntN(6) == 0 {
			s.arguments = size(r, window)
		}
		u.steps = append(u.steps, s)
	}
	last := step{text: size(r, window)}
	if r.IntN(6) == 0 {
		last.thought = size(r, window)
	}
	if r.IntN(8) == 0 {
		last.code, last.output = size(r, window), size(r, window)
	}
	u.steps = append(u.steps, last)
	return u
}

// fixedPart is more than the instruction, the declarations and the frames of a short summary take up here.
const fixedPart = 600

// TestNoSessionDies plays random histories, compacted by hand now and then. A turn may end with the typed error only if
// its new message alone is too large, with what the model cannot do without; the turn after it works.
func TestNoSessionDies(t *testing.T) {
	t.Parallel()
	sessions := testkit.Rounds(t, 5_000)
	if testkit.Whole() {
		sessions *= 2
	}
	for _, k := range []kind{stack, wholeTools, alone, observed} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			unbudgeted := k == alone || k == observed
			n := (sessions + 5) / 6
			if k == stack {
				n = sessions / 2
			}
			lives := map[int]*life{}
			var turns, typed, dead, over int
			for seed := range n {
				r := rand.New(rand.NewPCG(uint64(seed), 29))
				window := 2_000 + r.IntN(3)*500
				l := lives[window]
				if l == nil {
					l = newLife(t, k, window, window == 2_500)
					defer l.close()
					lives[window] = l
				}
				l.begin(fmt.Sprint(seed))
				for range 2 + r.IntN(4) {
					u := anyTurn(r, window)
					refused := l.model.refused
					err := l.say(u)
					turns++
					fits := u.message() < window-window/5-fixedPart
					switch {
					case isOverflow(err):
						if typed++; fits {
							dead++
							t.Errorf("seed %d, window %d: a message of %d tokens is refused: %.300v", seed, window, u.message(), err)
						}
					case err != nil && !u.fails && !u.leaves && (!unbudgeted || fits):
						dead++
						t.Errorf("seed %d, window %d: a turn with a message of %d tokens fails: %.300v", seed, window, u.message(), err)
					}
					if l.model.refused > refused && fits {
						over++
						t.Errorf("seed %d, window %d: a request over the window was sent, with a message of %d tokens", seed, window, u.message())
					}
					if r.IntN(6) == 0 {
						l.compact()
					}
				}
				if err := l.hello(); err != nil {
					dead++
					t.Errorf("seed %d, window %d: the session is dead: %.300v", seed, window, err)
				}
				l.end()
				if dead+over > 20 {
					t.Fatal("and so on")
				}
			}
			if typed == 0 && !unbudgeted {
				t.Error("no turn ended with the typed error, so the histories prove nothing")
			}
			t.Logf("%d sessions, %d turns, %d ended with the typed error, %d dead, %d requests over the window", n, turns, typed, dead, over)
		})
	}
}

// Two processes share a session, and either may answer the next turn. Each has seen only a part of the session, so neither
// knows what the other has learned of the provider, or of runs that failed.
func TestNoSessionDiesBetweenProcesses(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{stack, alone} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			const window = 2_500
			inner, llm := session.InMemoryService(), &picky{window: window}
			processes := make([]*life, 2)
			for i := range processes {
				processes[i] = newProcess(t, k, window, i == 1, inner, llm)
				defer processes[i].close()
			}
			tooLarge := 0
			for seed := range testkit.Rounds(t, 100) {
				r := rand.New(rand.NewPCG(uint64(seed), 31))
				processes[0].begin(fmt.Sprint(seed))
				processes[1].id = processes[0].id
				for range 3 + r.IntN(5) {
					u, refused := anyTurn(r, window), llm.refused
					err := processes[r.IntN(2)].say(u)
					fits := u.message() < window-window/5-fixedPart
					switch {
					case err == nil || u.fails || u.leaves:
					case fits:
						t.Errorf("seed %d: a turn with a message of %d tokens fails: %.300v", seed, u.message(), err)
					default:
						tooLarge++
					}
					if llm.refused > refused && fits {
						t.Errorf("seed %d: a request over the window was sent, with a message of %d tokens", seed, u.message())
					}
				}
				for i, l := range processes {
					if err := l.hello(); err != nil {
						t.Errorf("seed %d: the session is dead in process %d: %.300v", seed, i, err)
					}
				}
				processes[0].end()
			}
			if tooLarge == 0 {
				t.Error("no message was too large, so the histories prove nothing")
			}
		})
	}
}
