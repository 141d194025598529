package main

import (
	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/bench/guarded"
	"github.com/adk-go-ext/longsession/replay"
)

// contextGuard is contextguard for the agents that are played, with summaries by the agent's own model.
func contextGuard(opts ...contextguard.AgentOption) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		return app{service: base, plugins: guarded.Plugins(append(branchNames, replay.AgentName), writer, window, opts...)}, nil
	}
}
