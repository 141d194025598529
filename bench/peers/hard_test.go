package main

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// comparison is the document with the figures of the ways that are compared.
const comparison = "../../docs/comparison.md"

func TestNoHardCaseLosesAnythingInSilence(t *testing.T) {
	t.Parallel()
	type check func(t *testing.T, all, guard, ours, layers figures)
	badWriter := func(t *testing.T, all, guard, ours, layers figures) {
		if guard.missing == 0 || guard.missingCut > 0 {
			t.Errorf("contextguard with such a writer: %+v", guard)
		}
		for _, f := range []figures{ours, layers} {
			if f.missing == 0 || f.missing != f.missingCut || f.rough == 0 || f.waited > 0 {
				t.Errorf("longsession with such a writer: %+v", f)
			}
		}
	}
	handedOver := func(t *testing.T, all, _, ours, layers figures) {
		for _, f := range []figures{ours, layers} {
			if f.missing > 0 || f.kept != all.results || f.calls < 7 || f.rough > 0 {
				t.Errorf("another process knows less: %+v", f)
			}
		}
	}
	checks := map[string]check{
		"rounds of tools": func(t *testing.T, all, guard, ours, layers figures) {
			if all.requests != longTurn+1 || all.results != longTurn || guard.kept+guard.readable > longTurn/2 || ours.calls == 0 || layers.readable == 0 {
				t.Errorf("%+v, contextguard %+v, longsession %+v, with all layers %+v", all, guard, ours, layers)
			}
		},
		"a confirmation": func(t *testing.T, all, _, ours, layers figures) {
			// Four of five turns call a tool, and then the confirmed one runs.
			if all.results != pendingTurns*4/5+1 || ours.kept != all.results || ours.calls == 0 || layers.kept+layers.readable != all.results {
				t.Errorf("%+v, longsession %+v, with all layers %+v", all, ours, layers)
			}
		},
		"branches": func(t *testing.T, all, guard, ours, layers figures) {
			if all.results != 2*branchTurns*4/5 || all.leaked+guard.leaked > 0 || ours.calls < 4 || ours.kept != all.results {
				t.Errorf("%+v, contextguard %+v, longsession %+v, with all layers %+v", all, guard, ours, layers)
			}
		},
		"an agent as a tool": func(t *testing.T, all, guard, ours, layers figures) {
			if all.requests != expertCalls*(expertSteps+1+2) || guard.over != all.over || ours.over != all.over || layers.over > 0 {
				t.Errorf("%+v, contextguard %+v, longsession %+v, with all layers %+v", all, guard, ours, layers)
			}
			if layers.readable < expertCalls*expertSteps/2 || layers.kept+layers.readable != layers.results {
				t.Errorf("with all layers %d results known and %d readable of %d", layers.kept, layers.readable, layers.results)
			}
		},
		"a writer that fails":    badWriter,
		"a writer that hangs":    badWriter,
		`a writer that says "."`: badWriter,
		"a restart":              handedOver,
		"two processes":          handedOver,
		"a result of 21,000 tokens": func(t *testing.T, all, guard, ours, layers figures) {
			if guard.unread != 1 || guard.trimmed > 0 || ours.unread != 1 || ours.trimmed != 1 || layers.unread > 0 || layers.readable != 1 {
				t.Errorf("contextguard %+v, longsession %+v, with all layers %+v", guard, ours, layers)
			}
		},
		"adopted": func(t *testing.T, all, guard, ours, layers figures) {
			if all.over != all.requests || all.largest < 400_000 || guard.tokens > all.largest/4 {
				t.Errorf("%+v, contextguard %+v", all, guard)
			}
			for _, f := range []figures{ours, layers} {
				if f.writerRead < all.largest || f.writerOver > 0 || f.rough > 0 {
					t.Errorf("not all that was adopted has been read: %+v", f)
				}
			}
		},
	}
	for name, check := range checks {
		found := 0
		for _, s := range hardCases() {
			if !strings.Contains(s.name, name) {
				continue
			}
			found++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if strings.Contains(name, "adopted") {
					testkit.SkipBrief(t, "it stores 10,000 events for each way")
				}
				rows, err := measure(t.Context(), s, s.windows[0], 1, t.Output())
				if err != nil {
					t.Fatal(err)
				}
				played := map[string]figures{}
				for _, r := range rows {
					f := r.figures
					played[r.way.name] = f
					if missed := s.missed(r); len(missed) > 0 {
						t.Errorf("%s does not keep what it promises: %v", r.way.name, missed)
					}
					if r.way.ours && (r.way.layers || !s.alone) && f.over > 0 || f.orphans > 0 || f.requests != rows[0].figures.requests {
						t.Errorf("%s: %+v", r.way.name, f)
					}
				}
				all := played["everything, always"]
				if all.over == 0 || all.missing > 0 || all.kept != all.results || all.unread > 0 || all.calls > 0 {
					t.Errorf("the case is not hard, or not measured right: %+v", all)
				}
				check(t, all, played["contextguard, threshold"], played["longsession, sliding window"], played["longsession, sliding window, all layers"])
				held(t, comparison, hardRow(s, rows))
			})
		}
		if found != 1 {
			t.Errorf("%d cases have %q in their name", found, name)
		}
	}
	if len(checks) != len(hardCases()) {
		t.Errorf("%d cases are checked, of %d", len(checks), len(hardCases()))
	}
}

// The figures of branches would prove nothing if a leak could not be seen.
func TestATextOfAnotherBranchIsSeen(t *testing.T) {
	t.Parallel()
	p := plant(desk("left", 2))
	p.others = plantFrom(desk("right", 2), 0, 10_000).results
	w := newWatch(p, &oracle{}, narrow)
	w.request(0, 0, request(p.conversation.Turns[0].User, text(fact(p.results[0]))))
	if w.seen.leaked > 0 {
		t.Error("its own result counts as a leak")
	}
	w.request(1, 0, request(p.conversation.Turns[0].User, text(fact(p.others[0]))))
	if w.seen.leaked != 1 {
		t.Errorf("%d leaks, want 1", w.seen.leaked)
	}
}

func TestEachProcessPlaysItsTurnsInOrder(t *testing.T) {
	t.Parallel()
	c := &conversation.Conversation{ID: "six", Turns: make([]conversation.Turn, 6)}
	for i := range c.Turns {
		c.Turns[i].User = genai.NewContentFromText(string(rune('a'+i)), genai.RoleUser)
	}
	for _, tt := range []struct {
		process func(turn int) int
		want    string
	}{
		{nil, "0:abcdef"},
		{func(turn int) int { return turn / 4 }, "0:abcd 1:ef"},
		{func(turn int) int { return turn / 2 % 2 }, "0:ab 1:cd 0:ef"},
	} {
		var got []string
		for _, s := range (course{process: tt.process}).stretches(c) {
			said := string(rune('0'+s.process)) + ":"
			for i, turn := range s.c.Turns {
				said += turn.User.Parts[0].Text
				if turn.User != c.Turns[s.turn+i].User {
					t.Errorf("turn %d of a stretch is not turn %d of the conversation", i, s.turn+i)
				}
			}
			got = append(got, said)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
