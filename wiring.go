package longsession

import (
	"context"
	"errors"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/budget"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/toolresult"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// addToolResults makes the cutter, the masker and read_result, and has the view cut.
func (s *Stack) addToolResults(inner session.Service, cfg *Config) error {
	if !cfg.uses(LayerToolResults) {
		return nil
	}
	cfg.ToolResults.Readable = true
	cfg.stubInSmallWindow()
	cutter, err1 := toolresult.New(cfg.ToolResults)
	masker, err2 := toolresult.NewMasker(cfg.Masking)
	results := cfg.Results
	if results == nil {
		results = store.NewMemory(memoryBytes)
	}
	// Results of agents as tools are in no session of inner. Storage is asked first, so that a store of the
	// app's that hangs keeps nobody from reading what the session has.
	read, err3 := toolresult.ReadResult(sources{store.Events(inner), results}, cfg.readOptions())
	s.cutter, s.read = cutter, read
	cfg.Budget.Masker, cfg.Budget.Cutter, cfg.Budget.ReadResult, cfg.Budget.Store = masker, cutter, read, results
	cfg.Compaction.Cut = s.cut
	return errors.Join(err1, err2, err3)
}

// cut is what the view shows in place of an event.
func (s *Stack) cut(ref compaction.SessionRef, ev *session.Event) *session.Event {
	if !s.offered.Load() {
		return ev
	}
	return s.cutter.Event(store.Owner(ref), ev)
}

// addBudget makes the meter. With LayerBudget disabled it only masks and offers read_result: no use of the
// window has a consequence, and an overflow is the provider's error.
func (s *Stack) addBudget(cfg *Config) error {
	switch {
	case cfg.uses(LayerBudget):
		cfg.Compaction.Fixed = s.fixed
	case cfg.uses(LayerToolResults):
		cfg.Budget.Thresholds = budget.Thresholds{Note: budget.Off, Compact: budget.Off, Block: budget.Off}
		cfg.Budget.Passive = true
	default:
		return nil
	}
	cfg.Budget.Compactor = compactor{s}
	meter, err := budget.New(cfg.Budget)
	s.meter = meter
	return err
}

// fixed is the size of what an agent's requests hold besides their contents.
func (s *Stack) fixed(ref compaction.SessionRef, agent, branch string) int {
	return s.meter.Fixed(ref, agent, branch)
}

// compactor is the stack's session service, which does not exist yet when the meter is made.
type compactor struct{ s *Stack }

func (c compactor) Compact(ctx context.Context, ref compaction.SessionRef, opts compaction.CompactOptions) (compaction.CompactResult, error) {
	return c.s.Sessions.Compact(ctx, ref, opts)
}

func (c compactor) Owns(sess session.Session) bool { return c.s.Sessions.Owns(sess) }

func (c compactor) ObserveSent(ctx agent.InvocationContext, req *model.LLMRequest, masked int) {
	c.s.Sessions.ObserveSent(ctx, req, masked)
}

// addPlugins makes the plugins. Those that touch events come before the app's, because an app's plugin that
// answers hides an event from all behind it. The one that measures requests comes behind them.
func (s *Stack) addPlugins(cfg *Config) error {
	if cfg.uses(LayerToolResults) {
		// Without a cutter it only makes the errors of unknown tools short and stable: the view cuts.
		results, err := toolresult.Plugin(toolresult.PluginConfig{})
		if err != nil {
			return err
		}
		s.before = append(s.before, results)
	}
	if cfg.uses(LayerBudget) {
		s.before = append(s.before, s.meter.Plugin())
	}
	measure, err := plugin.New(plugin.Config{Name: "longsession-requests", BeforeModelCallback: s.beforeModel})
	if err != nil {
		return err
	}
	s.behind = append(s.behind, measure)
	return nil
}

// beforeModel declares read_result and measures the request, for agents whose model is not that of
// [Stack.Model]. For the others, the wrapper does both again on the final request.
func (s *Stack) beforeModel(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer func() { _ = recover() }() // a request of another make; the turn goes on without us
	if s.read != nil {
		toolresult.Declare(req, s.read)
	}
	return s.Sessions.ObserveRequest(ctx, req)
}
