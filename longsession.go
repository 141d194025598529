package longsession

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/activity"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// memoryBytes bounds the results that only agents as tools have, if Config.Results is nil. 64 MiB are some
// thousand results, and those of finished runs are dropped.
const memoryBytes = 64 << 20

// Stack is every layer of the module over one session service. It is safe for concurrent use, and one
// stack serves any number of agents and runners.
type Stack struct {
	// Sessions is the session service for runners, launchers and all other code that would use the
	// inner one.
	Sessions *compaction.CompactionSessionService
	// Guard knows what sessions spend, and lets a stopped one go on: see [guard.Guard.Usage] and
	// [guard.Guard.Reset]. It is nil if LayerGuard is disabled.
	Guard *guard.Guard
	// Recall searches the raw history of sessions, and has the tools by which a model does. It is nil if Config.Recall is
	// disabled.
	Recall *recall.Recaller

	cutter  *toolresult.Cutter // nil without LayerToolResults
	results sources            // none without LayerToolResults
	meter   *budget.Meter      // nil without any layer that needs it
	// registry has the prices for subtasks; nil is the built-in table.
	registry *tokens.Registry
	// tools are what the layers offer to agents besides recall: read_result and the context tools, as far as they are on.
	tools []tool.Tool
	order []row // the layers that are on
	// before and behind are the plugins around the app's own.
	before, behind []*plugin.Plugin
	// offered is true once an app was given a way by which its agents can read whole results.
	offered atomic.Bool
	// recalls is true once it was given a way by which its agents can search earlier messages.
	recalls atomic.Bool
	places  survive.Places
	other   sync.Once // logs that an agent has a tool of its own with the name of one of ours
}

// New puts the layers over inner. It returns an error if the config contradicts itself, or if inner
// is nil or already has a layer of this module; it then starts nothing. The error joins every problem:
// a [*ConfigError] for each value that is refused, by the stack or by a layer.
//
// It does not see the runner, which may have a compaction of ADK's own: remove EventsCompactionConfig
// (runner.Config.Compaction). With both, Logger and Observer of Config.Compaction are told at the first record
// that ADK appends, and no message is lost.
func New(inner session.Service, cfg Config) (*Stack, error) {
	var wrong configerr.Problems
	wrong.RefuseNilIn("Model", cfg.Model)
	wrong.RefuseNilIn("Compaction.Model", cfg.Compaction.Model)
	if len(wrong) > 0 {
		return nil, fmt.Errorf("longsession: %w", wrong.Join("config")) // the other checks ask a model for its name
	}
	cfg, problems := cfg.resolve()
	b := &builder{Stack: &Stack{registry: cfg.Registry}, inner: inner, cfg: &cfg}
	b.places.Logger = cfg.Compaction.Logger
	if err := errors.Join(problems, b.addLayers()); err != nil {
		// Compaction's own problems belong into the same error. With a problem of ours it is closed at once.
		svc, own := compaction.NewCompactionService(inner, cfg.Compaction)
		if svc != nil {
			own = svc.Close(context.Background())
		}
		return nil, fmt.Errorf("longsession: %w", errors.Join(err, own, closeLayers(context.Background(), b.order())))
	}
	svc, err := compaction.NewCompactionService(inner, cfg.Compaction)
	if err != nil {
		return nil, fmt.Errorf("longsession: %w", err)
	}
	b.Sessions = svc
	b.dropResults()
	err = errors.Join(b.addContextTools(), b.addRecall())
	b.arrange(b.order())
	return b.Stack, err
}

// PluginConfig returns the plugins of a runner: the app's own in their order, between those of the
// layers. Use it as runner.Config.PluginConfig or launcher.Config.PluginConfig. The package comment says
// which of ours run first, which last, and why.
func (s *Stack) PluginConfig(own ...*plugin.Plugin) runner.PluginConfig {
	s.offer()
	s.recalls.Store(true)
	return runner.PluginConfig{Plugins: slices.Concat(s.before, own, s.behind)}
}

// Model wraps llm in the layers that must see every call and every error of the provider. Give the
// result to the agent. Each agent of an app may have a model of its own. With every layer but compaction
// disabled, and Recall, too, Model returns llm itself.
func (s *Stack) Model(llm model.LLM) model.LLM {
	s.offer()
	s.recalls.Store(true)
	return s.wrap(llm)
}

// Ahead returns an instruction provider for agents whose model is that of [Stack.Model]. Over Block, it
// compacts the session before a request is built, so that no callback runs a second time; see
// [budget.Meter.Ahead]. Without LayerBudget it returns provider itself.
func (s *Stack) Ahead(provider llmagent.InstructionProvider) llmagent.InstructionProvider {
	if s.meter == nil {
		return provider
	}
	return s.meter.Ahead(provider)
}

// Tools returns the tools that the layers offer, to be appended to an agent's own: read_result, and those of
// Config.ContextTools. Agents that take part in live runs need them, and agents of a runner without the plugins need
// the context tools. For all others, each is put into the requests in which it has something to do. An agent that has
// them among its own tools declares them always. It returns nil if there are none.
//
// Those of [Stack.Recall] are not among them: requests are given them from the first summary on, and an agent may have a
// tool of such a name. Only an agent that takes part in live runs needs them among its own, from its Tools method.
func (s *Stack) Tools() []tool.Tool {
	s.offer()
	return slices.Clone(s.tools)
}

// Tracker returns what the budget knows of a session: how much of the window is used, how large a turn is
// on average, at which size it is compacted, and in about how many turns. It counts the turns of this process. Without
// LayerBudget it counts nothing.
func (s *Stack) Tracker(ref compaction.SessionRef) *budget.Tracker {
	if s.meter == nil {
		return &budget.Tracker{}
	}
	return s.meter.Tracker(ref)
}

// TruncateLog returns a line for each of the results that this process has shortened most recently, oldest
// first. It is nil if the layer of tool results is disabled.
func (s *Stack) TruncateLog() []string {
	if s.cutter == nil {
		return nil
	}
	return s.cutter.TruncateLog()
}

// Close waits for the work of all layers, stores waiting summaries and what they have cost, and waits until
// observers have received everything. Call it after the last runner has returned, and before the inner session
// service is closed. If ctx ends first, the work is canceled and Close
// returns the context's error. A second Close does nothing.
func (s *Stack) Close(ctx context.Context) error {
	return errors.Join(s.Sessions.Close(ctx), s.saveTotals(ctx), closeLayers(ctx, s.order))
}

// offer makes the view show shortened results. Before that, no agent could read them whole.
func (s *Stack) offer() { s.offered.Store(true) }

// OpenResult opens a whole tool result of a session by the reference that prompts show in its place, for people: the
// model has read_result. It returns the number of bytes, too. The error wraps [store.ErrUnknownRef] if the session has
// no such result, and also with LayerToolResults disabled, which shortens none.
func (s *Stack) OpenResult(ctx context.Context, session compaction.SessionRef, ref string) (io.ReaderAt, int64, error) {
	return s.results.Open(ctx, session, ref)
}

// Subtasks returns a runner of subtasks over the stack: their sessions are in the same storage, with the same
// layers, and what they cost counts for the session that calls them. Fields of cfg that are not set are filled
// in: Service, Guard, Registry and Wrap. Give the tools of [subtask.Runner.Wrappers] to the agent.
//
// Each request of a subtask is made to fit into its context window, and its long tool results are shortened and
// can be read whole. The sections of the instruction and the search for tools are left out: a subtask sees its
// own prompt only.
func (s *Stack) Subtasks(cfg subtask.Config) (*subtask.Runner, error) {
	if cfg.Service == nil {
		cfg.Service = s.Sessions
	}
	if cfg.Guard == nil {
		cfg.Guard = s.Guard
	}
	if cfg.Registry == nil {
		cfg.Registry = s.registry
	}
	if cfg.Wrap == nil {
		cfg.Wrap = s.fit
	}
	return subtask.New(cfg)
}

// fit puts the budget around the model of a subtask, and recall, which its summaries name.
func (s *Stack) fit(llm model.LLM) model.LLM {
	if s.meter != nil {
		s.offer()
		llm = s.meter.Model(llm)
	}
	return s.offerRecall(llm)
}

// ContextStats reports how the context of a session was managed, and what the session has spent.
type ContextStats struct {
	// At is when the session was looked at. Ages count to it.
	At time.Time
	// Activity counts all compactions and checkpoints of the session.
	Activity compaction.Activity
	// Usage is what the session has spent. It is zero without LayerGuard.
	Usage guard.Usage
}

// ContextStats reports how the context of a session was managed. It reads the session's whole history, so
// call it when a person asks, not in every turn. The error is that of the session service: an unknown session is
// [compaction.ErrNotFound].
func (s *Stack) ContextStats(ctx context.Context, ref compaction.SessionRef) (ContextStats, error) {
	status, err := s.Sessions.Status(ctx, ref)
	if err != nil {
		return ContextStats{}, err
	}
	stats := ContextStats{At: time.Now(), Activity: status.Activity}
	if s.Guard != nil {
		stats.Usage, err = s.Guard.Usage(ctx, s.Sessions, ref)
	}
	return stats, err
}

// String is a block of lines, without a newline at the end:
//
//	Context-management activity:
//	  Compactions:  1 (last 4m12s ago, focus: auth module)
//	  Checkpoints:  3 (last 51s ago, note: finished the survey)
//	  Summarized:   8420 chars across all boundaries
//	  Subtasks:     2 (32919 in / 338 out tokens, $0.0107 rolled up to /stats total)
//	  Models:       gemini-2.5-pro (5 turns, 30822 in / 558 out, $0.0683)
//	              + gemini-2.5-flash (2 turns, 16520 in / 206 out, $0.0055)
//
// A row without anything to show has a 0, and the models are left out unless there are two or more. A model's
// turns are its calls.
func (c ContextStats) String() string {
	a, u := c.Activity, c.Usage
	unpriced := func(model string) bool { return slices.Contains(u.Unpriced, model) }
	stats := activity.Stats{
		Now:          c.At,
		Merges:       a.Merges,
		Compactions:  activity.Boundaries{Count: a.Compactions, Last: a.LastCompaction, Text: a.Focus},
		Checkpoints:  activity.Boundaries{Count: a.Checkpoints, Last: a.LastCheckpoint, Text: a.Note},
		SummaryChars: a.Characters,
		Subtasks:     activity.Subtasks{Count: u.Subtasks.Count, Usage: u.Subtasks.Tokens, USD: u.Subtasks.USD, Unpriced: u.Subtasks.Unpriced},
	}
	for _, m := range u.Models {
		stats.Models = append(stats.Models, activity.Model{Name: m.Model, Calls: m.Calls, Usage: m.Tokens, USD: m.USD, Unpriced: unpriced(m.Model)})
	}
	return stats.String()
}
