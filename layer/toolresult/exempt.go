package toolresult

import (
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// exempt reports whether results of a tool are never shortened: ADK itself reads them, or it is in more.
func exempt(tool string, more []string) bool {
	return adk.IsExempt(tool) || slices.Contains(more, tool)
}
