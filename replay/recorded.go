package replay

import (
	"context"
	"errors"
	"strings"
	"sync"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// errNoSummary leaves history as it is where the recording has no summary of it.
var errNoSummary = errors.New("the recording has no summary of this")

// coveredBefore stands for what a recorded summary was also written from, where one record cannot hold all
// of it: earlier turns, and the tool rounds of the turn that runs, stand in different places.
const coveredBefore = "(This part is covered by the other summary of this conversation.)"

// recorded gives back a summary of the recorded application, at the point where it was made.
type recorded struct {
	mu      sync.Mutex
	due     bool
	summary string // "" once it was given
}

// recordedConfig leaves the recording's own compactions as the only ones.
func recordedConfig(cfg compaction.Config, c *conversation.Conversation, r *recorded) compaction.Config {
	cfg.InvocationThreshold, cfg.SafetyRatio, cfg.TokenThreshold = compaction.Off, compaction.Off, 0
	cfg.Model, cfg.Summarizer = nil, r
	cfg.MaxSummaries = 1 // each recorded summary took the place of all before it, earlier summaries among it
	for _, theirs := range c.Compactions {
		cfg.MaxSummaryTokens = max(cfg.MaxSummaryTokens, tokens.Estimate(theirs.Summary))
	}
	return cfg
}

// at makes a summary the one that is due. The function it returns takes that back.
func (r *recorded) at(summary string) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due, r.summary = true, summary
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.due = false
	}
}

// Summarize implements the summarizer.
func (r *recorded) Summarize(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.due || len(req.Events) == 0 {
		return summarizer.Result{}, errNoSummary
	}
	text := r.summary
	r.summary = ""
	switch {
	case text != "":
	case len(req.Summaries) > 0: // it was given already, and goes on standing for more
		text = strings.Join(req.Summaries, "\n")
	default:
		text = coveredBefore
	}
	return summarizer.Result{Content: textContent(text, genai.RoleModel)}, nil
}
