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

// errNoSummary makes a compaction fail where the recording has none, so the history stays as it is.
var errNoSummary = errors.New("the recording has no summary of this")

// coveredBefore is the text of a second record for one recorded summary. One record cannot cover
// both earlier turns and the tool rounds of the running turn, because the view shows their
// summaries in different places. For example, a recorded summary of
//
//	user "one", agent "two", user "three", agent calls a tool
//
// becomes two records: the first has the recorded text, the second this one.
const coveredBefore = "(This part is covered by the other summary of this conversation.)"

// recorded is a summarizer that returns the summaries of the recorded application, each where it
// was made.
type recorded struct {
	mu      sync.Mutex
	due     bool
	summary string // "" after it was returned
}

// recordedConfig is cfg with the recording's own compactions as the only ones.
func recordedConfig(cfg compaction.Config, c *conversation.Conversation, r *recorded) compaction.Config {
	cfg.InvocationThreshold, cfg.SafetyRatio, cfg.TokenThreshold = compaction.Off, compaction.Off, 0
	cfg.Model, cfg.Summarizer = nil, r
	cfg.MaxLedgerTokens, cfg.MaxUserTokens = compaction.Off, compaction.Off // the recorded application showed its summary alone
	cfg.MaxSummaries = 1                                                    // each recorded summary replaced everything before it, including earlier summaries
	for _, theirs := range c.Compactions {
		cfg.MaxSummaryTokens = max(cfg.MaxSummaryTokens, tokens.Estimate(theirs.Summary))
	}
	return cfg
}

// at makes the recorder return this summary, until done is called.
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
	case len(req.Summaries) > 0: // it was returned already, and its record now absorbs more
		text = strings.Join(req.Summaries, "\n")
	default:
		text = coveredBefore
	}
	return summarizer.Result{Content: textContent(text, genai.RoleModel)}, nil
}
