package main

import (
	"context"

	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// way is a way of keeping a session short.
type way struct {
	name string
	// open prepares the way for one session. base stores the session, writer writes the summaries,
	// and window is the context window of the agent's model in tokens.
	open func(base session.Service, writer *oracle, window int) (app, error)
	// ours is true if the guarantees of this module's compaction apply, and layers if it has all layers.
	ours, layers bool
	// compared is true if docs/comparison.md has the way.
	compared bool
}

// app is what a way adds to an application. All fields but service are optional.
type app struct {
	service session.Service
	plugins []*plugin.Plugin
	// runner changes other settings of the runner.
	runner func(*runner.Config)
	// model wraps the agent's model.
	model func(model.LLM) model.LLM
	// rest is called before each model call, between two steps of the runner. It waits for
	// background work.
	rest func(ctx context.Context, ref compaction.SessionRef) error
	// aside has the whole results of agents that run as tools, whatever session it is asked for.
	aside store.Source
	// close ends the background work.
	close func(ctx context.Context) error
}

// The number of contents that a way keeps in a prompt, or that accumulate before it summarizes.
const (
	// keepLast is odd, because in the invented conversation an even number always falls between
	// complete calls.
	keepLast = 25
	// The default of contextguard's sliding window, and the value in its README.
	guardDefault, guardShown = 20, 30
)

func ways() []way {
	return []way{
		{name: "everything, always", open: bare, compared: true},
		{name: "keep the last 25", open: cutting(lastContents, keepLast)},
		{name: "keep the last 25, calls whole", open: cutting(lastWhole, keepLast), compared: true},
		{name: "contextguard, threshold", open: contextGuard(), compared: true},
		{name: "contextguard, sliding window of 20", open: contextGuard(contextguard.WithSlidingWindow(guardDefault))},
		{name: "contextguard, sliding window of 30", open: contextGuard(contextguard.WithSlidingWindow(guardShown))},
		{name: "limits of gemini-cli", open: limiting(likeGemini)},
		{name: "limits of codex", open: limiting(likeCodex)},
		{name: "limits of deepagents", open: limiting(likeDeepAgents)},
		{name: "longsession, tool results stored and cut", open: shaped(&toolresult.Config{Readable: true}, nil)},
		{name: "longsession, tool results masked", open: shaped(nil, &toolresult.Masking{})},
		{name: "longsession, both", open: shaped(&toolresult.Config{Readable: true}, &toolresult.Masking{})},
		{name: "longsession, by turns", open: wrapped(byTurns), ours: true},
		{name: "longsession, by tokens", open: wrapped(byTokens), ours: true},
		{name: "longsession, sliding window", open: wrapped(compaction.DefaultConfig), ours: true, compared: true},
		{name: "longsession, sliding window, all layers", open: layered(compaction.DefaultConfig), ours: true, layers: true, compared: true},
		{name: "longsession, by price", open: wrapped(byPrice), ours: true, compared: true},
		{name: "longsession, by price, all layers", open: layered(byPrice), ours: true, layers: true, compared: true},
		{name: "longsession, sliding window, one rolling summary", open: wrapped(rolling), ours: true},
		{name: "longsession, sliding window, a writer of 1,000,000", open: widely(wrapped(compaction.DefaultConfig)), ours: true},
	}
}

func bare(base session.Service, _ *oracle, _ int) (app, error) { return app{service: base}, nil }
