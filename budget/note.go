package budget

import (
	"fmt"
	"maps"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/toolresult"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// NoteKey is the key under which the plugin writes its note into a tool result. Package toolresult keeps
// such a note when it cuts or masks the result, and leaves it out of the whole result.
const NoteKey = "context_status"

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

// noteInto writes a note into the newest function response of a content. The response gets a new map,
// because the old one may be the tool's own. A response in which the tool itself uses the note's key is left
// alone. It returns false if there is no response that a note may be written into.
func noteInto(c *genai.Content, note string) bool {
	if c == nil {
		return false
	}
	for i := len(c.Parts) - 1; i >= 0; i-- {
		p := c.Parts[i]
		if p == nil || p.FunctionResponse == nil || p.FunctionResponse.Response == nil || toolresult.IsExempt(p.FunctionResponse.Name) {
			continue
		}
		if own, taken := p.FunctionResponse.Response[NoteKey]; taken && !store.IsNote(NoteKey, own) {
			continue
		}
		response := maps.Clone(p.FunctionResponse.Response)
		response[NoteKey] = note
		p.FunctionResponse.Response = response
		return true
	}
	return false
}
