package longsession

import (
	"maps"
	"slices"

	"github.com/adk-go-ext/longsession/recall"
	"github.com/adk-go-ext/longsession/toolresult"
)

// prepareRecall has summaries say that earlier messages can be searched, and leaves what a search has found whole. It
// comes before the layers are made, and addRecall behind the session service.
func (c *Config) prepareRecall() error {
	if !c.Recall.Enabled {
		return nil
	}
	c.Compaction.RecallTool = recall.ToolName
	c.leaveRecallWhole()
	return c.Recall.Check()
}

// leaveRecallWhole sets the limits of the results of recall and recall_turn. They are bounded by Recall.MaxTokens. A
// stub in their place would make the model read them back. Limits of the app's take precedence.
func (c *Config) leaveRecallWhole() {
	results := &c.ToolResults
	limits := map[string]toolresult.Limits{}
	for _, name := range []string{recall.ToolName, recall.TurnToolName} {
		if !slices.Contains(results.Exempt, name) {
			limits[name] = wholeResult
		}
	}
	maps.Copy(limits, results.PerTool)
	results.PerTool = limits
}

// addRecall makes the tools, unless they are off.
func (b *builder) addRecall() error {
	if !b.cfg.Recall.Enabled {
		return nil
	}
	r, err := recall.New(b.Sessions, b.cfg.Recall)
	if err != nil {
		return err
	}
	b.Recall = r
	b.tools = append(b.tools, r.Tools()...)
	return nil
}
