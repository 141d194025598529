package integration_test

import (
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// Each byte of each result is read back through a model, after compaction, masking and a restart, over every
// kind of storage.
func TestEveryStorageHasEveryResultWhole(t *testing.T) {
	t.Parallel()
	stores := []storages.Storage{storages.InMemory()}
	if !testkit.Brief() {
		stores = storages.All(t)
	}
	for _, store := range stores {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			a := newToolApp(t, store.Anew(t), single, func(a *toolApp) {
				a.cfg.ToolResults.PerTool = map[string]toolresult.Limits{"dump": {StubAbove: toolresult.Off, MaxBytes: 3_000}} // cuts, no stubs
			})
			a.play(4)
			a.reopen()
			a.play(3)
			a.checkWorked(false)
			a.reopen()
			if n := a.readAll(); n < 5 {
				t.Errorf("%d results were read after another restart", n)
			}
		})
	}
}

// An app adopts the stack in the middle of a session that was stored without it and is far over the window.
func TestAHistoryThatGrewBeforeTheStackFitsAndIsReadable(t *testing.T) {
	t.Parallel()
	a := newToolApp(t, storages.InMemory(), single, func(a *toolApp) { a.bare = true })
	a.play(4)
	if a.seen.largest < 2*a.window {
		t.Fatalf("the largest prompt has %d tokens only", a.seen.largest)
	}
	a.bare = false
	a.reopen()
	a.play(3)
	if a.summaries() == 0 {
		t.Error("nothing was summarized")
	}
	if n := a.readAll(); n < 3 {
		t.Errorf("only %d results were shortened", n)
	}
}

// The consumer leaves a turn after a call, after a response, or before either. The next turns are requests
// that a provider accepts, and every result can still be read.
func TestATurnThatIsCutOffInTheMiddleHarmsNoLaterRequest(t *testing.T) {
	t.Parallel()
	a := newToolApp(t, storages.InMemory(), single, nil)
	for left := range 8 {
		a.play(1)
		n := 0
		for _, err := range a.runner.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("Please go on, I have little time.", genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > left%5 {
				break
			}
		}
		w := a.workers[0]
		w.mu.Lock()
		w.must, w.at, w.part = nil, 0, "" // what it was reading is lost with the turn
		w.mu.Unlock()
	}
	a.play(1)
	if n := a.readAll(); n < 5 {
		t.Errorf("only %d results were shortened", n)
	}
}

// With a window that hardly has room for one result, compaction alone could not help within a turn.
func TestASmallWindowIsNeverExceeded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"single", "parallel tools", "an agent as a tool"} {
		s := shapes[slices.IndexFunc(shapes, func(s shape) bool { return s.name == name })]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newToolApp(t, storages.InMemory(), s.build, func(a *toolApp) { a.window = 8_000 })
			for _, w := range a.workers {
				w.reads = false // an answer of read_result alone may have half of this window
			}
			a.play(8)
			if a.seen.largest > 8_000 || a.summaries() == 0 {
				t.Errorf("the largest prompt has %d tokens, with %d summaries", a.seen.largest, a.summaries())
			}
		})
	}
}
