package compaction

import "github.com/adk-go-ext/longsession/internal/promptsize"

const (
	maxRatio = promptsize.MaxRatio
	// recentReports is how many reports count. Tools, instructions and models change.
	recentReports = 30
	// silence is how many compactions an agent is remembered for that reports no more: it may have gone, and
	// its instructions and tools must not be counted in for ever.
	silence = 5
)

// fit is what the provider's reports say of an agent's prompts.
type fit struct {
	promptsize.Fit
	// silent is for how many compactions in a row others have reported, and this agent has not.
	silent int
}

// add takes in one report. Earlier ones fade.
func (f *fit) add(estimate, reported int) {
	f.Fade(recentReports - 1)
	f.Add(estimate, reported)
}
