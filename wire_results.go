package longsession

import (
	"errors"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/toolresult"
	"github.com/adk-go-ext/longsession/toolresult/store"
	"github.com/adk-go-ext/longsession/toolsearch"
)

// addToolResults makes the cutter, the masker and read_result, and has the view cut.
func (s *Stack) addToolResults(inner session.Service, cfg *Config) error {
	if !cfg.uses(LayerToolResults) {
		return nil
	}
	cfg.ToolResults.Readable = true
	cfg.stubInSmallWindow()
	if cfg.uses(LayerToolSearch) {
		// What a search has found must be there in the next step, and so must the parameters that a refused call
		// is told. These answers are bounded, and old ones are masked.
		cfg.ToolResults.Exempt = append(slices.Clone(cfg.ToolResults.Exempt), toolsearch.SearchToolName, toolsearch.CallToolName)
	}
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
