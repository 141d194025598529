package longsession

import (
	"context"
	"maps"
	"slices"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// prepareRecall has summaries say that earlier messages can be searched, and leaves what a search has found whole. It
// comes before the layers are made, and addRecall behind the session service.
func (b *builder) prepareRecall() error {
	c := b.cfg
	if !c.Recall.Enabled {
		return nil
	}
	c.Compaction.RecallTool = recall.ToolName
	c.leaveRecallWhole()
	b.indexAfterCompactions()
	return c.Recall.Check()
}

// indexAfterCompactions has the file's index take in what summaries stand for, as soon as they are stored.
func (b *builder) indexAfterCompactions() {
	own := b.cfg.Compaction.Observer
	if own != nil && adk.IsNil(own) {
		return // compaction refuses it
	}
	b.cfg.Compaction.Observer = compaction.ObserverFunc(func(ctx context.Context, o compaction.Observation) {
		b.Recall.Observe(ctx, o)
		if own != nil {
			own.Observe(ctx, o)
		}
	})
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
