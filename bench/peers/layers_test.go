package main

import "testing"

// readingWindow is a window that the session of the reading agent fills several times.
const readingWindow = 32_000

func TestAllLayersNeedFewerTokensThanCompactionAlone(t *testing.T) {
	t.Parallel()
	all := played(t, readingLogs(), named(t, "everything, always"), readingWindow)
	alone := played(t, readingLogs(), named(t, "longsession, sliding window"), readingWindow)
	layers := played(t, readingLogs(), named(t, "longsession, sliding window, all layers"), readingWindow)
	if missed := broken(layers); len(missed) > 0 || layers.over > 0 || layers.requests != all.requests {
		t.Errorf("%v, %+v", missed, layers)
	}
	if 100*layers.prompt > 85*alone.prompt || layers.dollars() > 0.85*alone.dollars() {
		t.Errorf("%d tokens, $%.2f; with compaction alone %d, $%.2f", layers.prompt, layers.dollars(), alone.prompt, alone.dollars())
	}
	if layers.kept+layers.readable < alone.kept || layers.readable == 0 {
		t.Errorf("%d results known and %d readable; with compaction alone %d known", layers.kept, layers.readable, alone.kept)
	}
}

// In a window of 32,000 masking works in batches of less than 5,000 tokens, so more requests break the prefix
// than in a large one. All the same it must cost at most half of what it costs to send everything.
func TestEachLayerAloneSavesAndLosesNothing(t *testing.T) {
	t.Parallel()
	all := played(t, readingLogs(), named(t, "everything, always"), readingWindow)
	for _, tt := range []struct {
		name   string
		breaks bool
	}{{"longsession, tool results stored and cut", false}, {"longsession, tool results masked", true}, {"longsession, both", true}} {
		f := played(t, readingLogs(), named(t, tt.name), readingWindow)
		if f.kept+f.readable != f.results || f.unread > 0 || f.orphans > 0 || f.missing > 0 {
			t.Errorf("%s: %d results known, %d readable, of %d: %+v", tt.name, f.kept, f.readable, f.results, f)
		}
		if 2*f.prompt > all.prompt || f.dollars() > all.dollars()/2 || (f.breaks > 0) != tt.breaks || 3*f.breaks > f.requests {
			t.Errorf("%s: %d of %d tokens, $%.2f of $%.2f, %d prefix breaks", tt.name, f.prompt, all.prompt, f.dollars(), all.dollars(), f.breaks)
		}
	}
}

func TestTheLimitsOfOthersAreComparedWithOurs(t *testing.T) {
	t.Parallel()
	all := played(t, readingLogs(), named(t, "everything, always"), readingWindow)
	ours := played(t, readingLogs(), named(t, "longsession, tool results stored and cut"), readingWindow)
	for _, tt := range []struct {
		name             string
		readable, unread int
	}{{"limits of gemini-cli", 3, 0}, {"limits of codex", 0, 3}, {"limits of deepagents", 3, 0}} {
		f := played(t, readingLogs(), named(t, tt.name), readingWindow)
		if f.readable != tt.readable || f.unread != tt.unread || f.kept+3 != f.results || f.breaks > 0 {
			t.Errorf("%s: %+v", tt.name, f)
		}
		if f.prompt >= all.prompt || f.prompt <= ours.prompt {
			t.Errorf("%s: %d tokens, without limits %d, with ours %d", tt.name, f.prompt, all.prompt, ours.prompt)
		}
	}
}
