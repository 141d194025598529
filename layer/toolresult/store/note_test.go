package store_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// A text stays a text, and equal results have one reference, whatever a layer noted in one of them.
func TestANoteIsNoPartOfTheResult(t *testing.T) {
	t.Parallel()
	plain := map[string]any{"output": "a\nb"}
	noted := map[string]any{"output": "a\nb", "context_status": "[Context: 80% used]"}
	if got, want := store.ResultOf(noted), store.ResultOf(plain); got != want || !got.Text {
		t.Errorf("with a note %+v, without %+v", got, want)
	}
	if len(noted) != 2 {
		t.Errorf("the response was changed: %v", noted)
	}
	for name, value := range map[string]any{"an object": map[string]any{"ok": true}, "a long text": "[Context: " + strings.Repeat("x", 2000), "the tool's own text": "healthy"} {
		response := map[string]any{"output": "a\nb", "context_status": value}
		if got := store.ResultOf(response); got == store.ResultOf(plain) || len(notes.Without(response)) != 2 {
			t.Errorf("%s under the key of a note is lost: %+v", name, got)
		}
	}
}

func TestAResponseWithoutANoteIsReturnedItself(t *testing.T) {
	response := map[string]any{"output": "a", "exit_code": 1}
	if allocs := testing.AllocsPerRun(10, func() { notes.Without(response) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
