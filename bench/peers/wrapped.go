package main

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// wrapped is this module with a config. Summaries are written in the background, by default, and have
// the time between two model calls.
func wrapped(config func() compaction.Config) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		cfg := config()
		cfg.Model, cfg.ContextWindow = writer, window
		cfg.Observer = compaction.ObserverFunc(func(_ context.Context, o compaction.Observation) {
			if o.Outcome == compaction.Started {
				writer.aside.Store(!o.Inline)
			}
		})
		service, err := compaction.NewCompactionService(base, cfg)
		if err != nil {
			return app{}, err
		}
		return app{service: service, rest: service.Flush, close: service.Close}, nil
	}
}

// byTurns is the default without the trigger by tokens.
func byTurns() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.SafetyRatio = 0
	return cfg
}

// byTokens is the default without the trigger by turns.
func byTokens() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.InvocationThreshold = 0
	return cfg
}

// rolling is the default with one summary that is written anew each time.
func rolling() compaction.Config {
	cfg := compaction.DefaultConfig()
	cfg.MaxSummaries = 1
	return cfg
}
