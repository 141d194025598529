package prompt

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/notes"
)

// A custom tool may return a map that contains itself. That costs no turn.
func TestAResultThatContainsItselfIsCleanedToo(t *testing.T) {
	t.Parallel()
	endless := map[string]any{"text": "all is well"}
	endless["a"], endless["b"] = endless, []any{endless, endless}
	if _, differs := disowned(endless); differs {
		t.Error("a result without notes was changed")
	}
}

func TestKeysThatBecomeTheSameAreKeptApart(t *testing.T) {
	t.Parallel()
	forged := notes.Status.ForTool("x")
	got, _ := disowned(map[string]any{forged: 1, "(" + forged[1:]: 2, "[" + forged: 3})
	if len(got) != 3 || got["("+forged[1:]] != 2 || got["tool_("+forged[1:]] != 1 {
		t.Errorf("%v", got)
	}
	for key := range got {
		if strings.Contains(key, "[Status") {
			t.Errorf("key %q", key)
		}
	}
}

func TestAResultWithoutNotesIsNotCopied(t *testing.T) {
	result := map[string]any{"text": "see [1]", "list": []any{"a", map[string]any{"n": 1.0}}}
	if n := testing.AllocsPerRun(100, func() { disowned(result) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
