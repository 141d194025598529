package main

import (
	"context"
	"encoding/json"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
)

// vast is the window of a writer that can read everything.
const vast = 1_000_000

// wrapped is this module with a config. By default it writes summaries in the background, during
// the time between two model calls.
func wrapped(config func() compaction.Config) func(session.Service, *oracle, int) (app, error) {
	return readingIn(0, config)
}

// readingIn is wrapped with a writer that reads a window in at most so many pieces; 0 for the default.
func readingIn(pieces int, config func() compaction.Config) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		cfg := config()
		llm, err := summarizer.NewLLM(summarizer.LLMConfig{Model: writer, ContextWindow: writer.window, MaxPieces: pieces})
		if err != nil {
			return app{}, err
		}
		cfg.Summarizer, cfg.ContextWindow = coding{llm}, window
		cfg.Observer = observing(writer)
		service, err := compaction.NewCompactionService(base, cfg)
		if err != nil {
			return app{}, err
		}
		return app{service: service, rest: service.Flush, close: service.Close}, nil
	}
}

// coding is a summarizer whose model writes a fact for each text, as a code that the text does not have. Without its Wording,
// longsession would take the codes for invented and cut them out.
type coding struct{ *summarizer.LLM }

// Wording returns what the model may write that is not in the record.
func (c coding) Wording(req summarizer.Request) string {
	said := []string{c.LLM.Wording(req)}
	if data, err := json.Marshal(req.Events); err == nil {
		for number := range marks(data) {
			said = append(said, fact(number))
		}
	}
	return strings.Join(said, " ")
}

// observing tells the writer which of its summaries a turn waits for, and which were written without it.
func observing(writer *oracle) func(context.Context, compaction.Observation) {
	return func(_ context.Context, o compaction.Observation) {
		switch o.Outcome {
		case compaction.Started:
			writer.aside.Store(!o.Inline)
		case compaction.Stored:
			writer.wrote(o.Model)
		}
	}
}

// widely is a way whose writer has a larger window than the agent's model, and so reads all texts
// uncut.
func widely(open func(session.Service, *oracle, int) (app, error)) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		writer.window = vast
		return open(base, writer, window)
	}
}

// byTurns is the default without the token trigger.
func byTurns() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.SafetyRatio = compaction.Off
	return cfg
}

// byTokens is the default without the turn trigger.
func byTokens() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.InvocationThreshold = compaction.Off
	return cfg
}

// byPrice is the sliding window with prices instead of the turn trigger: those of the model whose prices the tables have.
func byPrice() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.InvocationThreshold, cfg.AgentModel = 0, priced
	return cfg
}

// rolling is the default with a single summary that is rewritten each time.
func rolling() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.MaxSummaries = 1
	return cfg
}
