package main

import (
	"slices"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// narrow is a window too small for the invented conversation.
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
	f, err := play(t.Context(), plant(c), w, window, course{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOurWaysLoseNothingAndHoldUpNoTurn(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	if all.requests != 54 || all.results != 24 || all.kept != 24 || all.missing > 0 || all.avoidable == 0 || all.avoidable != all.over {
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
			t.Errorf("%s did not shorten the prompts: %+v", w.name, f)
		}
		if f.waited > 0 || f.requests != all.requests {
			t.Errorf("%s: turns waited for %d summaries, and the model was asked %d times instead of %d", w.name, f.waited, f.requests, all.requests)
		}
	}
	if ours != 8 {
		t.Errorf("%d ways are ours, want 8", ours)
	}
}

// The figures would prove nothing if every way looked good.

func TestKeepingTheLastLosesWhatWasBefore(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	for _, name := range []string{"keep the last 25", "keep the last 25, calls whole"} {
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
		f := played(t, invented(), way{name: tt.name, open: cutting(tt.cut, keepLast)}, narrow)
		if (f.orphans > 0) != tt.bad {
			t.Errorf("the last %d %s: %d orphans", keepLast, tt.name, f.orphans)
		}
	}
}

func TestTheGuardIsAtWork(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	for _, name := range []string{"contextguard, threshold", "contextguard, sliding window of 20", "contextguard, sliding window of 30"} {
		f := played(t, invented(), named(t, name), narrow)
		if f.calls == 0 || f.prompt >= all.prompt || f.over > 0 || f.keys != 5 || f.writes < f.requests {
			t.Errorf("%s has the wrong setup: %+v", name, f)
		}
		if f.waited != f.calls {
			t.Errorf("%s: turns waited for %d of %d summaries, although it has no other time to write them", name, f.waited, f.calls)
		}
		if f.orphans > 0 {
			t.Errorf("%s: %d orphans, which it promises to avoid", name, f.orphans)
		}
		// The threshold keeps the user's messages as long as its writer can read all of them.
		if sliding := name != "contextguard, threshold"; sliding && f.missing == 0 || f.kept == f.results {
			t.Errorf("%s lost nothing: what BENCHMARKS.md says of it is no longer true: %+v", name, f)
		}
	}
}

// A way that also summarizes the newest content removes a result before the model has read it.
func TestAResultThatWasSummarizedUnreadIsSeen(t *testing.T) {
	t.Parallel()
	if f := played(t, invented(), named(t, "contextguard, threshold"), narrow/2); f.unread == 0 {
		t.Errorf("every result was read: %+v", f)
	}
}

// A fact at the start of a cut result would still be found, and the figures would count the whole
// result as known.
func TestWhatAWriterCannotReadWholeIsCountedAsCut(t *testing.T) {
	t.Parallel()
	slightly := way{name: "by tokens, a small writer", open: func(base session.Service, writer *oracle, window int) (app, error) {
		writer.window = narrow * 3 / 4
		return readingIn(1, byTokens)(base, writer, window)
	}}
	f := played(t, invented(), slightly, narrow)
	if f.cut == 0 || f.kept+f.cut != f.results || f.rough > 0 || f.writerOver > 0 {
		t.Errorf("the writer's window is %d, and nothing was cut: %+v", narrow*3/4, f)
	}
	vastly := way{name: "by tokens, vast", open: widely(wrapped(byTokens))}
	if f := played(t, invented(), vastly, narrow); f.calls == 0 || f.cut+f.missing > 0 || f.kept != f.results {
		t.Errorf("the writer could read everything, and something was cut: %+v", f)
	}
}

// State and events take the same storage.
func TestWhatIsStoredIsCounted(t *testing.T) {
	t.Parallel()
	all := played(t, invented(), named(t, "everything, always"), narrow)
	if all.events != 30+2*24+30 || all.bytes == 0 || all.keys+all.writes > 0 {
		t.Errorf("not what was said: %+v", all)
	}
	ours := played(t, invented(), named(t, "longsession, sliding window"), narrow)
	if ours.events != all.events+ours.calls || ours.bytes <= all.bytes {
		t.Errorf("ours adds %d events and %d bytes for %d summaries", ours.events-all.events, ours.bytes-all.bytes, ours.calls)
	}
	theirs := played(t, invented(), named(t, "contextguard, threshold"), narrow)
	if theirs.events != all.events || theirs.bytes <= all.bytes {
		t.Errorf("contextguard adds %d events and %d bytes for %d writes of state", theirs.events-all.events, theirs.bytes-all.bytes, theirs.writes)
	}
}

// ADK's own compaction is a setting of the runner, which a way must reach however a conversation is played.
func TestAWayReachesTheSettingsOfTheRunner(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]playing{"a conversation": course{}.of(desk("short", 1)), "other agents": pending} {
		asked := 0
		w := way{name: "a setting", open: func(base session.Service, _ *oracle, _ int) (app, error) {
			p, err := beforeModel("seen", func(*model.LLMRequest) { asked++ })
			return app{service: base, runner: func(cfg *runner.Config) { cfg.PluginConfig.Plugins = []*plugin.Plugin{p} }}, err
		}}
		if f, err := play(t.Context(), w, narrow); err != nil || asked == 0 || asked != f.requests {
			t.Errorf("%s: %d of %d requests seen: %v", name, asked, f.requests, err)
		}
	}
}
