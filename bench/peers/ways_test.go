package main

import (
	"slices"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/conversation"
)

// narrow is a window that the invented conversation outgrows.
const narrow = 8_000

func named(t *testing.T, name string) way {
	t.Helper()
	i := slices.IndexFunc(ways(), func(w way) bool { return w.name == name })
	if i < 0 {
		t.Fatalf("no way is named %q", name)
	}
	return ways()[i]
}

func played(t *testing.T, c *conversation.Conversation, w way, window int) figures {
	t.Helper()
	f, err := play(t.Context(), plant(c), w, window)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOurWaysLoseNothingAndHoldUpNoTurn(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	if all.requests != 54 || all.results != 24 || all.over == 0 || len(broken(all)) > 0 {
		t.Fatalf("the conversation is not what it should be, or not measured right: %+v", all)
	}
	ours := 0
	for _, w := range ways() {
		if !w.ours {
			continue
		}
		ours++
		f := played(t, invented(), w, narrow)
		if missed := broken(f); len(missed) > 0 {
			t.Errorf("%s does not keep what it promises: %v", w.name, missed)
		}
		if f.calls == 0 || f.prompt > all.prompt*2/3 || f.over > 0 {
			t.Errorf("%s did not make the prompts shorter: %+v", w.name, f)
		}
		if f.waited > 0 || f.requests != all.requests {
			t.Errorf("%s: turns waited for %d summaries, and the model was asked %d times instead of %d", w.name, f.waited, f.requests, all.requests)
		}
	}
	if ours != 4 {
		t.Errorf("%d ways are ours, want 4", ours)
	}
}

// The figures would be worth nothing if no way looked bad in them.

func TestKeepingTheLastLosesWhatWasBefore(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	for _, name := range []string{"keep the last 20", "keep the last 20, calls whole"} {
		f := played(t, invented(), named(t, name), narrow)
		if f.missing == 0 || f.kept == f.results || f.calls != 0 {
			t.Errorf("%s: nothing is missing: %+v", name, f)
		}
		if 5*f.same > f.before || all.same != all.before {
			t.Errorf("%s: %d of %d bytes at the start of prompts stay the same, %d of %d where nothing is cut", name, f.same, f.before, all.same, all.before)
		}
	}
}

func TestACutThroughACallIsSeen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cut  func([]*genai.Content, int) []*genai.Content
		bad  bool
	}{{"contents", lastContents, true}, {"whole calls", lastWhole, false}} {
		// With an odd number the cut falls between a call and its response.
		f := played(t, invented(), way{name: tt.name, open: cutting(tt.cut, keep-1)}, narrow)
		if (f.orphans > 0) != tt.bad {
			t.Errorf("the last %d %s: %d orphans", keep-1, tt.name, f.orphans)
		}
	}
}

func TestTheGuardIsAtWork(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	for _, name := range []string{"contextguard, threshold", "contextguard, sliding window of 20", "contextguard, sliding window of 30"} {
		f := played(t, invented(), named(t, name), narrow)
		if f.calls == 0 || f.prompt >= all.prompt || f.over > 0 || f.keys != 5 || f.writes < f.requests {
			t.Errorf("%s is not set up as it should be: %+v", name, f)
		}
		if f.waited != f.calls {
			t.Errorf("%s: turns waited for %d of %d summaries, and it has no other time to write them", name, f.waited, f.calls)
		}
		if f.orphans > 0 {
			t.Errorf("%s: %d orphans, which it promises to avoid", name, f.orphans)
		}
		if f.missing == 0 || f.kept == f.results {
			t.Errorf("%s lost nothing: what BENCHMARKS.md says of it is no longer true: %+v", name, f)
		}
	}
}

// TestAResultThatWasSummarizedUnreadIsSeen: whoever summarizes the newest content too takes a result away
// before the model could read it.
func TestAResultThatWasSummarizedUnreadIsSeen(t *testing.T) {
	t.Parallel()
	if f := played(t, invented(), named(t, "contextguard, threshold"), narrow/2); f.unread == 0 {
		t.Errorf("every result was read: %+v", f)
	}
}
