package budget

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// Config says how large the window is, what happens as it fills up, and who hears of it. The zero
// value is the defaults, and works for every model.
type Config struct {
	// Registry has the windows and output limits of models. If nil, the built-in table of package
	// tokens is used.
	Registry *tokens.Registry
	// ContextWindow is the context window of the model, in tokens. 0 means the window that Registry
	// has for the request's model. If it has none, the meter assumes 128,000 and logs a warning,
	// once for each model.
	ContextWindow int
	// MaxOutputTokens is reserved for the reply, in tokens, if the request does not set a limit of
	// its own (GenerateContentConfig.MaxOutputTokens). Either is at most half of the window. 0 means
	// the longest reply of the model in Registry, or 8,192 if it has none, but at most a tenth of
	// the window: hardly any reply is longer. Off reserves only what a request asks for.
	MaxOutputTokens int
	// Thresholds are shares of the effective window: the window less the reserve. Zero fields are
	// those of [Standard].
	Thresholds Thresholds
	// Skills returns the parts of a system instruction that are skills, word for word, so that they
	// count as SkillPrompts instead of SystemPrompt. It is called when an agent's instruction
	// changes, possibly by several goroutines at once. If nil, they are what ADK's skill toolset has
	// written. A panic in it is recovered, and no skills are counted.
	Skills func(instruction string) []string
	// Sections returns the name of each part of the system instruction of a request, by the context of its
	// model call: normally prompt.SectionNames. With it, [PrefixBreak.Section] has the section that broke the
	// prefix. It must be quick. If nil, and where it returns nothing, every part is the base. A panic in it is
	// recovered.
	Sections func(ctx context.Context) []string
	// Compactor summarizes the session when a request is over Block or refused as too long: normally
	// the [compaction.CompactionSessionService] of the runner. If nil, sessions are not compacted.
	Compactor Compactor
	// CompactTimeout bounds one such compaction, all its summarizer calls together. 0 means 60 s, as
	// in package compaction.
	CompactTimeout time.Duration
	// DisableRebuild keeps the meter from compacting sessions and running agents again in the middle
	// of a model call. Requests that are too large are then only masked and dropped from.
	// [Meter.Ahead] runs no agent again, and still compacts.
	DisableRebuild bool
	// Passive leaves requests that are too large alone: the meter declares ReadResult, cuts and masks in
	// batches, measures and reports. It compacts no session, drops nothing, sends nothing twice, and
	// passes errors of the model on as they are.
	Passive bool
	// Masker masks old tool results: in batches in every request, and all but the newest round in one
	// that is too large. If nil, none are masked.
	Masker *toolresult.Masker
	// ReadResult is the tool by which the model reads cut and masked results. It is put into requests of
	// agents that have tools of their own, and into those that show something cut or masked, unless they
	// cannot take a function. If nil, none is.
	ReadResult tool.Tool
	// Cutter and Store are for sessions that Compactor does not own, such as those of an agent that
	// runs as a tool (package agenttool): no view cuts their results, and no storage has them to read
	// from. Cutter shortens results in their requests, and Store keeps what is shortened or masked, so
	// the source of ReadResult must read it too. Of such sessions, the newest 64 keep their results in
	// a Store that can forget a session. Without a Compactor, every session is such a session, and is
	// kept. Store also keeps masked results that a callback of the app has changed in the request, since
	// no session has those. If Store is nil, results there are masked but not kept, and Cutter must be nil.
	Cutter *toolresult.Cutter
	Store  store.Store
	// Overflow reports whether an error of the model means that the prompt is too long, in addition to
	// those that [IsOverflow] knows. It must be quick and safe for concurrent use. If nil, IsOverflow
	// alone decides.
	Overflow func(error) bool
	// Observer hears of requests, prefix breaks and changes of state. If nil, nothing is reported.
	Observer func(ctx context.Context, o Observation)
	// Logger gets a line when a state changes, never for every request, and never with content:
	//
	//   - Warn: a model's context window is assumed
	//   - Warn: a server seems to cut prompts silently; Info: it no longer does
	//   - Warn: a provider's counts cannot be those of the prompts that were sent
	//
	// If nil, slog.Default() at that time is used.
	Logger *slog.Logger
}

// check returns the joined problems of a config whose thresholds have their defaults.
func (c *Config) check() error {
	p := c.Thresholds.check()
	if c.ContextWindow < 0 {
		p.Refuse("ContextWindow", c.ContextWindow, "it must not be negative; 0 is the window of the request's model")
	}
	if c.MaxOutputTokens < compaction.Off {
		p.Refuse("MaxOutputTokens", c.MaxOutputTokens, "it must not be negative; Off (%d) reserves only what a request asks for", compaction.Off)
	}
	if c.ContextWindow > 0 && c.MaxOutputTokens > c.ContextWindow/2 {
		p.Refuse("MaxOutputTokens", c.MaxOutputTokens, "it is more than half of ContextWindow %d, and too little would be left for the prompt; lower it", c.ContextWindow)
	}
	c.checkModel(&p)
	return p.Join("budget config")
}

// defaultCompactTimeout is that of one summarizer call in package compaction.
const defaultCompactTimeout = 60 * time.Second

// checkModel adds what is wrong with the settings of the wrapper.
func (c *Config) checkModel(p *configerr.Problems) {
	p.RefuseNilIn("Compactor", c.Compactor)
	p.RefuseNilIn("ReadResult", c.ReadResult)
	p.RefuseNilIn("Store", c.Store)
	if c.CompactTimeout < 0 {
		p.Refuse("CompactTimeout", c.CompactTimeout, "it must not be negative; 0 is 60 s, and DisableRebuild turns compactions in a model call off")
	}
	if c.Cutter != nil && c.Store == nil {
		p.Refuse("Cutter", c.Cutter, "without Store, what it cuts could not be read back; set Store, or leave Cutter out")
	}
}
