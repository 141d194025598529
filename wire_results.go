package longsession

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// addToolResults makes the cutter, the masker and read_result, and has the view cut.
func (b *builder) addToolResults() error {
	if !b.cfg.uses(LayerToolResults) {
		return nil
	}
	b.cfg.ToolResults.Readable = true
	b.cfg.stubInSmallWindow()
	b.cfg.leaveSearchesWhole()
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
	b.cutter, b.tools = cutter, []tool.Tool{read}
	b.cfg.Budget.Masker, b.cfg.Budget.Cutter, b.cfg.Budget.ReadResult, b.cfg.Budget.Store = masker, cutter, read, results
	b.cfg.Compaction.Cut = b.cut
	return errors.Join(err1, err2, err3)
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
		if err := drop(store.Owner(ref)); err != nil {
			cmp.Or(b.cfg.Compaction.Logger, slog.Default()).Warn("longsession: the tool results of a deleted session are left in their store",
				"app", ref.AppName, "user", ref.UserID, "session", ref.SessionID, "error", err)
		}
	})
}

// searchMax is more than an answer of tool_search, tool_call, recall or recall_turn has, in bytes.
const searchMax = 64 << 10

// wholeResult are the limits of a tool of the stack's whose results are bounded already.
var wholeResult = toolresult.Limits{MaxBytes: searchMax, MaxLines: toolresult.Off, MaxTokens: toolresult.Off, StubAbove: toolresult.Off}

// leaveSearchesWhole sets the limits of tool_search and tool_call. What a search has found must be there in the
// next step, and so must the parameters that a refused call is told. Old answers are masked. An app may have
// tools of these names, whose results have no bound of ours, so they are not exempt. Limits of the app's
// take precedence.
func (c *Config) leaveSearchesWhole() {
	if !c.uses(LayerToolSearch) || c.ToolSearch.Threshold == toolsearch.Off {
		return
	}
	results := &c.ToolResults
	limits := map[string]toolresult.Limits{}
	for _, name := range []string{toolsearch.SearchToolName, toolsearch.CallToolName} {
		if !slices.Contains(results.Exempt, name) {
			limits[name] = wholeResult
		}
	}
	maps.Copy(limits, results.PerTool)
	results.PerTool = limits
}

// cut is what the view shows in place of an event.
func (s *Stack) cut(ref compaction.SessionRef, ev *session.Event) *session.Event {
	if !s.offered.Load() {
		return ev
	}
	return s.cutter.Event(store.Owner(ref), ev)
}
