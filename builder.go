package longsession

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// builder makes the layers of a stack. What they are put around, and in which order, is in order.go.
type builder struct {
	*Stack
	inner session.Service
	cfg   *Config

	unknown *plugin.Plugin       // short errors for unknown tools; nil without LayerToolResults
	prompt  *prompt.Builder      // nil without LayerPrompt
	search  *toolsearch.Deferral // nil without LayerToolSearch
}

// addLayers makes all that the session service does not need to exist for. The error joins what each layer
// refuses. A later layer may depend on an earlier one.
func (b *builder) addLayers() error {
	return errors.Join(
		b.prepareRecall(), b.addToolResults(), b.addPrompt(), b.addBudget(), b.addToolSearch(), b.addGuard(), b.prepareContextTools(),
	)
}

// addToolResults makes the cutter, the masker and read_result, and has the view cut.
func (b *builder) addToolResults() error {
	if !b.cfg.uses(LayerToolResults) {
		return nil
	}
	b.cfg.ToolResults.Readable = true
	b.cfg.stubInSmallWindow()
	if b.cfg.uses(LayerToolSearch) && b.cfg.ToolSearch.Threshold != toolsearch.Off {
		b.cfg.leaveWhole(toolsearch.SearchToolName, toolsearch.CallToolName)
	}
	cutter, err1 := toolresult.New(b.cfg.ToolResults)
	masker, err2 := toolresult.NewMasker(b.cfg.Masking)
	results := b.cfg.Results
	if results == nil {
		results = store.NewMemory(memoryBytes)
	}
	// Results of agents as tools are in no session of the inner service. Storage is asked first, so that a store of the
	// app's that hangs keeps nobody from reading what the session has.
	b.results = sources{store.Events(b.inner), results}
	read, err3 := toolresult.ReadResult(b.results, b.cfg.readOptions())
	// Without a cutter it only makes the errors of unknown tools short and stable: the view cuts.
	unknown, err4 := toolresult.Plugin(toolresult.PluginConfig{})
	b.cutter, b.tools, b.unknown = cutter, []tool.Tool{read}, unknown
	b.cfg.Budget.Masker, b.cfg.Budget.Cutter, b.cfg.Budget.ReadResult, b.cfg.Budget.Store = masker, cutter, read, results
	b.cfg.Compaction.Cut = b.cut
	return errors.Join(err1, err2, err3, err4)
}

// dropResults has the results of a session deleted with it, from a store that can do that.
func (b *builder) dropResults() {
	var drop func(store.Owner) error
	switch results := b.cfg.Budget.Store.(type) { // nil with LayerToolResults disabled
	case interface{ Drop(store.Owner) }:
		drop = func(owner store.Owner) error { results.Drop(owner); return nil }
	case interface{ Drop(store.Owner) error }:
		drop = results.Drop
	default:
		return
	}
	b.Sessions.OnDelete(func(ref compaction.SessionRef) {
		if err := drop(ref); err != nil {
			cmp.Or(b.cfg.Compaction.Logger, slog.Default()).Warn("longsession: the tool results of a deleted session are left in their store",
				"app", ref.AppName, "user", ref.UserID, "session", ref.SessionID, "error", err)
		}
	})
}

// searchMax is more than an answer of tool_search or tool_call has, in bytes.
const searchMax = 64 << 10

// leaveWhole sets the limits of tools of the stack's whose results are bounded already. What a search has found must be
// there in the next step, and so must the parameters that a refused call is told: a stub in their place would make the
// model read them back. Old answers are masked. An app may have tools of these names, whose results have no bound of
// ours, so they are not exempt. Limits of the app's take precedence.
func (c *Config) leaveWhole(tools ...string) {
	results := &c.ToolResults
	limits := map[string]toolresult.Limits{}
	for _, name := range tools {
		if !slices.Contains(results.Exempt, name) {
			limits[name] = toolresult.Limits{MaxBytes: searchMax, MaxLines: toolresult.Off, MaxTokens: toolresult.Off, StubAbove: toolresult.Off}
		}
	}
	maps.Copy(limits, results.PerTool)
	results.PerTool = limits
}

// sources opens a result from the first source that has it.
type sources []store.Source

// Open implements [store.Source]. If none has the result, it returns the first failure of a source, or
// [store.ErrUnknownRef] if none failed.
func (s sources) Open(ctx context.Context, owner store.Owner, ref string) (io.ReaderAt, int64, error) {
	failure := store.ErrUnknownRef
	for _, source := range s {
		reader, size, err := source.Open(ctx, owner, ref)
		if err == nil {
			return reader, size, nil
		}
		if errors.Is(failure, store.ErrUnknownRef) && !errors.Is(err, store.ErrUnknownRef) {
			failure = err
		}
	}
	return nil, 0, failure
}

// cut is what the view shows in place of an event.
func (s *Stack) cut(ref compaction.SessionRef, ev *session.Event) *session.Event {
	if !s.offered.Load() {
		return ev
	}
	return s.cutter.Event(ref, ev)
}

// addPrompt makes the builder of sections, and has the budget name the section at which a prefix breaks.
func (b *builder) addPrompt() error {
	if !b.cfg.uses(LayerPrompt) {
		return nil
	}
	builder, err := prompt.New(b.cfg.Prompt)
	b.prompt = builder
	b.cfg.Budget.Sections = prompt.SectionNames
	return err
}

// addBudget makes the meter. With LayerBudget disabled it only masks and offers read_result: no use of the
// window has a consequence, and an overflow is the provider's error.
func (b *builder) addBudget() error {
	switch {
	case b.cfg.uses(LayerBudget):
		b.cfg.Compaction.Fixed, b.cfg.Compaction.Fits = b.fixed, true
	case b.cfg.uses(LayerToolResults):
		b.cfg.Budget.Thresholds = budget.Thresholds{Note: compaction.Off, Compact: compaction.Off, Block: compaction.Off}
		b.cfg.Budget.Passive = true
	default:
		return nil
	}
	b.cfg.Budget.Compactor = compactor{b.Stack}
	meter, err := budget.New(b.cfg.Budget)
	b.meter = meter
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

func (c compactor) Triggers(ref compaction.SessionRef) compaction.Triggers {
	return c.s.Sessions.Triggers(ref)
}

// addToolSearch makes the deferral of declarations.
func (b *builder) addToolSearch() error {
	if !b.cfg.uses(LayerToolSearch) {
		return nil
	}
	deferral, err := toolsearch.New(b.cfg.ToolSearch)
	b.search = deferral
	return err
}

// addGuard makes the guard, and has it count what summaries cost.
func (b *builder) addGuard() error {
	if !b.cfg.uses(LayerGuard) {
		return nil
	}
	g, err := guard.New(b.cfg.Guard)
	if err != nil {
		return err
	}
	b.Guard = g
	compacting := &b.cfg.Compaction
	compacting.Observer = g.Compactions(compacting.Observer)
	may := compacting.MaySummarize
	compacting.MaySummarize = func(ref compaction.SessionRef) bool { return g.MaySummarize(ref) && (may == nil || may(ref)) }
	return nil
}

// saveTotals stores what was charged since the last event of each session, such as a summary after the last turn.
func (s *Stack) saveTotals(ctx context.Context) error {
	if s.Guard == nil {
		return nil
	}
	return s.Guard.Save(ctx, s.Sessions)
}

// prepareContextTools has compaction answer the calls of the context tools. It comes before the session service is
// made, and addContextTools behind it.
func (b *builder) prepareContextTools() error {
	if err := b.cfg.ContextTools.Check(); err != nil {
		return err
	}
	b.cfg.Compaction = b.cfg.ContextTools.Compaction(b.cfg.Compaction)
	return nil
}

// addContextTools makes the tools, unless they are off.
func (b *builder) addContextTools() error {
	tools, err := contexttool.New(b.Sessions, b.cfg.ContextTools)
	if err != nil {
		return err
	}
	b.tools = append(b.tools, tools.Tools()...)
	return nil
}
