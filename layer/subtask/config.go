package subtask

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// The defaults of [Config] and [Spec].
const (
	defaultMaxTurns       = 5
	defaultWall           = 60 * time.Second
	defaultMaxReplyTokens = 1_000
	defaultDepth          = 1
	defaultParallel       = 4
)

// Confirmation says what happens when a tool of a subtask asks a person for confirmation.
type Confirmation string

const (
	// ConfirmAsk: the tool that runs the subtask asks in its place. The subtask waits in its session, and goes
	// on when the person has decided, also in another process. This is the default. A subtask can ask once
	// per call: ADK passes on no second question of one call, so that is declined.
	ConfirmAsk Confirmation = "ask"
	// ConfirmDecline: the call is declined, and the subtask goes on without it.
	ConfirmDecline Confirmation = "decline"
)

// Config is the configuration of a [Runner]. Service and one of Model and Parent are required.
type Config struct {
	// Service has the sessions of the parents, and gets those of the subtasks.
	Service session.Service
	// Guard counts the calls of the subtasks, charges them to their parents, and enforces all limits. If nil,
	// the runner has a guard of its own, so that the limits of each subtask hold in any case.
	Guard *guard.Guard
	// Model runs the subtasks: a small, cheap model. If nil, it is Parent, and each result says so.
	Model model.LLM
	// Parent is the model of the agents that call the tools.
	Parent model.LLM
	// Wrap puts the app's layers around the model of a subtask. They are outside of the guard's. If nil, there
	// are none. It must not add anything of the parent's to a request.
	Wrap func(model.LLM) model.LLM
	// Plugins are those of the runners of the subtasks, behind the guard's. Plugins of the parent's runner do not
	// reach a subtask unless they are given here. One that writes to requests would break the rule that a
	// subtask sees its own prompt only.
	Plugins []*plugin.Plugin
	// BeforeTool and AfterTool are called around each tool of a subtask, as those of an agent: give the
	// callbacks here by which the parent's agent allows tools or shortens their results.
	BeforeTool []llmagent.BeforeToolCallback
	AfterTool  []llmagent.AfterToolCallback
	// Confirmations says what happens when a tool of a subtask asks for confirmation. "" means ConfirmAsk.
	Confirmations Confirmation

	// Limits are those of a subtask whose [Spec] does not set them. Of these, ModelCalls 0 means
	// DefaultMaxTurns, and Wall 0 means DefaultWall. USD and Tokens 0 mean what the parent has left.
	Limits guard.Limits
	// MaxReplyTokens bounds the text of a result, in estimated tokens, if the [Spec] does not. 0 means
	// DefaultMaxReplyTokens.
	MaxReplyTokens int
	// Depth is how many subtasks may run inside each other. 0 means DefaultDepth: a subtask has none.
	Depth int
	// Parallel is how many subtasks run at a time. Others wait. 0 means DefaultParallel.
	Parallel int
	// Stream has the models stream. Then a subtask that is stopped in the middle of a reply returns the part
	// that has arrived. A streamed reply without a finish reason counts as cut.
	Stream bool

	// Registry has the prices by which a subtask is refused whose budget is below the price of one call. If
	// nil, the built-in table of package tokens is used.
	Registry *tokens.Registry
	// Observer receives observations, such as when subtasks start and end. If nil, there are none.
	Observer func(ctx context.Context, o Observation)
}

// checkLimits refuses negative limits.
func checkLimits(p *configerr.Problems, prefix string, calls string, l guard.Limits) {
	if l.USD < 0 {
		p.Refuse(prefix+"USD", l.USD, "it must not be negative; 0 is what the parent has left")
	}
	if l.USD > 0 && l.USD < tokens.Dollar/10_000 {
		p.Refuse(prefix+"USD", int64(l.USD), "it is less than a hundredth of a cent: a bare number is one of nano-dollars; write guard.Dollars(0.10) for ten cents")
	}
	if l.ModelCalls < 0 {
		p.Refuse(prefix+calls, l.ModelCalls, "it must not be negative; 0 is the default")
	}
	if l.Tokens < 0 {
		p.Refuse(prefix+"Tokens", l.Tokens, "it must not be negative; 0 is what the parent has left")
	}
	if l.Wall < 0 {
		p.Refuse(prefix+"Wall", l.Wall, "it must not be negative; 0 is the default")
	}
}

func (c *Config) check() error {
	var p configerr.Problems
	if adk.IsNil(c.Service) {
		p.Refuse("Service", nil, "give the session service of the app")
	}
	p.RefuseNilIn("Model", c.Model)
	p.RefuseNilIn("Parent", c.Parent)
	if c.Confirmations != "" && c.Confirmations != ConfirmAsk && c.Confirmations != ConfirmDecline {
		p.Refuse("Confirmations", c.Confirmations, "there are %s and %s", ConfirmAsk, ConfirmDecline)
	}
	checkLimits(&p, "Limits.", "ModelCalls", c.Limits)
	if c.MaxReplyTokens < 0 {
		p.Refuse("MaxReplyTokens", c.MaxReplyTokens, "it must not be negative; 0 is %d", defaultMaxReplyTokens)
	}
	if c.Depth < 0 {
		p.Refuse("Depth", c.Depth, "it must not be negative; 0 is %d", defaultDepth)
	}
	if c.Parallel < 0 {
		p.Refuse("Parallel", c.Parallel, "it must not be negative; 0 is %d", defaultParallel)
	}
	if slices.ContainsFunc(c.BeforeTool, func(f llmagent.BeforeToolCallback) bool { return f == nil }) {
		p.Refuse("BeforeTool", nil, "one of them is nil, and every tool call would panic; leave it out")
	}
	if slices.ContainsFunc(c.AfterTool, func(f llmagent.AfterToolCallback) bool { return f == nil }) {
		p.Refuse("AfterTool", nil, "one of them is nil, and every tool call would panic; leave it out")
	}
	for _, own := range c.Plugins {
		switch {
		case own == nil:
			p.Refuse("Plugins", nil, "one of them is nil: create the plugin first, and check its error")
		case own.Name() == guard.PluginName || own.Name() == pluginName:
			p.Refuse("Plugins", own.Name(), "every subtask has it already; leave it out")
		}
	}
	return p.Join("subtask config")
}

// Runner runs subtasks. It is safe for concurrent use, and holds no resources that must be closed.
type Runner struct {
	cfg    Config
	slots  chan struct{}
	outbox outbox.Observations[Observation]
}

// New returns a runner. It copies the config. The error joins a [*compaction.ConfigError] for each value that is refused.
// A runner without a model runs only subtasks whose [Spec] has one.
func New(cfg Config) (*Runner, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Confirmations = cmp.Or(cfg.Confirmations, ConfirmAsk)
	cfg.Limits.ModelCalls = cmp.Or(cfg.Limits.ModelCalls, defaultMaxTurns)
	cfg.Limits.Wall = cmp.Or(cfg.Limits.Wall, defaultWall)
	cfg.MaxReplyTokens = cmp.Or(cfg.MaxReplyTokens, defaultMaxReplyTokens)
	cfg.Depth = cmp.Or(cfg.Depth, defaultDepth)
	cfg.Parallel = cmp.Or(cfg.Parallel, defaultParallel)
	cfg.Plugins = slices.Clone(cfg.Plugins)
	if cfg.Guard == nil {
		own, err := guard.New(guard.Config{Registry: cfg.Registry})
		if err != nil {
			return nil, fmt.Errorf("subtask config: the runner's own guard: %w", err)
		}
		cfg.Guard = own
	}
	cfg.Guard.UseService(cfg.Service) // there it finds subtasks whose process has ended
	return &Runner{cfg: cfg, slots: make(chan struct{}, cfg.Parallel)}, nil
}
