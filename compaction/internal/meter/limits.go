package meter

import (
	"cmp"
	"math"

	"github.com/adk-go-ext/longsession/tokens"
)

// MinSummary is the least that a summary is asked to take up, in tokens: a sentence or two.
const MinSummary = 32

const (
	// defaultReply is reserved for the reply of an unknown model: many models are limited to this,
	// and servers that are given no limit reserve it.
	defaultReply = 8_192
	// replyShare caps a reserve that the caller did not ask for. Models are sold with replies of up
	// to half of their window, and hardly any reply is that long.
	replyShare = 0.1
	// marginShare is how much of the effective window a compaction at the hard limit must free to be
	// worth a call for every event that comes in.
	marginShare = 0.02
	// summariesShare is how much of the hard limit the summaries of a branch may take up before
	// they are cut. A summarizer that writes more than it is asked for is usually right; one that
	// writes without end must not fill the prompt.
	summariesShare = 0.75
	// askedShare is how much of it they are asked to take up at most. In a window of 8,000, airline chats and coding
	// agents cost 1.049 and 0.62 of what they cost without; with 0.5 it was 1.056 and 0.66, and with 0.3 a monologue
	// compacted once more and kept a fact less.
	askedShare = 0.31
)

// Config are the fields of compaction.Config that limits follow from, with its defaults filled in.
// A trigger that is off is 0. ContextWindow and MaxOutputTokens are as the caller gave them.
type Config struct {
	Registry                       *tokens.Registry
	ContextWindow, MaxOutputTokens int
	SafetyRatio, BlockRatio        float64
	TokenThreshold                 int
	MaxSummaries, MaxSummaryTokens int
	MaxLedgerTokens                int
	// UserTokens and UserTokensWithTools are those of [Limits] at most.
	UserTokens, UserTokensWithTools int
	// RetainTokens bounds what the newest events may take up that stay raw: 0 for half of the threshold, or half of what
	// there is where prices decide, negative for no bound.
	RetainTokens int
	// ByPrice turns on the economical trigger. Retain is how many of the newest events a compaction leaves raw.
	// SummaryModel names the model that writes summaries, "" for the agent's own; FreeSummaries says that none does.
	ByPrice bool
	Retain  int
	// PieceTokens is how many tokens of a window it reads in one call, 0 for all of them.
	SummaryModel  string
	FreeSummaries bool
	PieceTokens   int
	// ModelChanges says that the agent's model may change while the service runs.
	ModelChanges bool
}

// WindowIsFixed reports whether the context window stays what it is, so that other numbers can be
// checked against it once and for all.
func (c *Config) WindowIsFixed() bool { return !c.ModelChanges || c.ContextWindow > 0 }

// Share is the prompt size that SafetyRatio allows in an effective window, 0 if it is off.
func (c *Config) Share(effective int) int { return int(math.Ceil(c.SafetyRatio * float64(effective))) }

// Limits are the prompt sizes, in tokens, that follow from an agent's model. They never change.
type Limits struct {
	Model string
	// Assumed says that no table has the model, and that the caller did not set its context window.
	Assumed bool
	// ContextWindow is the model's, and Reply what is reserved in it for the reply. The rest is the
	// effective window.
	ContextWindow, Reply int
	// Threshold is the prompt size that sets off the token trigger; 0 where that is off.
	Threshold int
	// HardLimit is the prompt size that forces a compaction before the next prompt.
	HardLimit int
	// Capacity is the prompt size beyond which a provider refuses: the context window, less
	// MaxOutputTokens only if the caller set it. A reserve by default is given up before a session
	// is.
	Capacity int
	// Margin is what a window must free at the hard limit to be worth a call for every event that
	// comes in.
	Margin int
	// SummaryTokens is how long a summary is asked to be: MaxSummaryTokens, or less where
	// MaxSummaries of that length would fill half of the prompt that the token trigger allows, or askedShare of HardLimit.
	SummaryTokens int
	// LedgerTokens is how many tokens of exact values a branch may show: MaxLedgerTokens, or less where that is more
	// than half of MaxSummaries summaries of MaxSummaryTokens, than an eighth of the prompt that the token trigger
	// allows, or than a twelfth of HardLimit. 0 for none.
	LedgerTokens int
	// UserTokens is how many tokens of what the user said a branch may show, and UserTokensWithTools how many if the
	// agent calls tools: as the Config says, or less where that is more than a twelfth of that prompt. 0 for none.
	UserTokens, UserTokensWithTools int
	// AllSummaries is how much the summaries of a branch may take up together. One that exceeds it
	// is cut.
	AllSummaries int
	// RetainTokens is how much the newest events may take up that stay raw, in estimated tokens; 0 for no limit.
	// RetainsHalf says that a compaction by price leaves at most half of what is raw, too.
	RetainTokens int
	RetainsHalf  bool
	// Prices are those of the economical trigger, 0 if it is off. Retain, MaxSummaries and PieceTokens are those of
	// Config, 0 without prices.
	Prices                            Prices
	Retain, MaxSummaries, PieceTokens int
}

// Effective is the effective window: the context window less what is reserved for the reply.
func (l *Limits) Effective() int { return l.ContextWindow - l.Reply }

// Limits derives the limits for an agent's model. Numbers that do not fit the model's window give
// way; package compaction refuses those that could not fit from the start.
func (c *Config) Limits(model string) *Limits {
	window, windowKnown := c.Registry.Window(model)
	known, _ := c.Registry.Lookup(model)
	l := &Limits{Model: model, Assumed: !windowKnown && c.ContextWindow == 0, ContextWindow: cmp.Or(c.ContextWindow, window)}
	l.Capacity = l.ContextWindow
	switch fits := c.MaxOutputTokens <= l.ContextWindow/2; {
	case c.MaxOutputTokens < 0:
	case c.MaxOutputTokens > 0 && (fits || c.WindowIsFixed()):
		l.Reply = c.MaxOutputTokens
		l.Capacity -= l.Reply
	default:
		l.Reply = min(cmp.Or(known.MaxOutputTokens, defaultReply), int(replyShare*float64(l.ContextWindow)))
	}
	effective := l.Effective()
	l.HardLimit = int(c.BlockRatio * float64(effective))
	l.Margin = effective - int((1-marginShare)*float64(effective))
	if share := c.Share(effective); share > 0 {
		l.Threshold = min(share, l.HardLimit)
	}
	if c.TokenThreshold > 0 {
		l.Threshold = min(c.TokenThreshold, cmp.Or(l.Threshold, l.HardLimit))
	}
	room := cmp.Or(l.Threshold, l.HardLimit)
	l.SummaryTokens = min(c.MaxSummaryTokens, max(MinSummary, min(room/2, int(askedShare*float64(l.HardLimit)))/c.MaxSummaries))
	l.LedgerTokens = min(c.MaxLedgerTokens, c.MaxSummaries*c.MaxSummaryTokens/2, room/8, l.HardLimit/12)
	l.UserTokens, l.UserTokensWithTools = min(c.UserTokens, room/12), min(c.UserTokensWithTools, room/12)
	if l.RetainTokens = max(0, c.RetainTokens); c.RetainTokens == 0 {
		l.RetainTokens = room / 2
	}
	l.AllSummaries = int(summariesShare * float64(l.HardLimit))
	if c.ByPrice {
		l.Prices = c.prices(known)
	}
	if l.Prices.Decide() {
		l.RetainsHalf = c.RetainTokens == 0
		l.Retain, l.MaxSummaries, l.PieceTokens = min(c.Retain, maxTail), c.MaxSummaries, c.PieceTokens
	}
	return l
}

// prices are those that the economical trigger goes by.
func (c *Config) prices(agent tokens.Model) Prices {
	if c.FreeSummaries {
		return PricesOf(agent, nil)
	}
	summaries := agent
	if c.SummaryModel != "" {
		summaries, _ = c.Registry.Lookup(c.SummaryModel)
	}
	return PricesOf(agent, &summaries)
}
