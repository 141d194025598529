package budget

import (
	"fmt"

	"github.com/adk-go-ext/longsession/internal/notes"
)

// noteKey is the key under which the plugin writes its note into a tool result. Package toolresult keeps
// such a note when it cuts or masks the result, and leaves it out of the whole result.
const noteKey = notes.ContextKey

// compactTool is the name of a tool by which the model can free space itself.
const compactTool = "compact_context"

// noteSteps is the number of steps in the effective window; a note is written once for each.
const noteSteps = 20 // 5% each

// noteState is the step that was noted last, 0 for none.
type noteState struct{ step int }

// due reports whether a note is due at a share of the effective window, and remembers it. Steps that a
// compaction has taken back are noted again, but not those of a share that wavers around a step.
func (n *noteState) due(share, from float64) bool {
	step := int(share * noteSteps)
	if step < n.step-1 {
		n.step = step
	}
	if from <= 0 || share < from || step <= n.step {
		return false
	}
	n.step = step
	return true
}

// noteText is the note about a used share of the effective window. It names a tool only if the model is
// offered it.
func noteText(share float64, canCompact bool) string {
	percent := min(100, int(100*share))
	if canCompact {
		return fmt.Sprintf("[Context: %d%% used. You can call %s to free space before continuing with large operations.]", percent, compactTool)
	}
	return fmt.Sprintf("[Context: %d%% used. Avoid large tool results.]", percent)
}
