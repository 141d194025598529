package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/mcptoolset"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/summarizer"
)

// game is one way to play the tasks, and what it came to.
type game struct {
	way
	provider
	turns, calls, ran int // turns, calls of tools other than tool_search, and those that succeeded
	searches          int
	missed            []string

	mu     sync.Mutex
	causes map[budget.Cause]int // of prefix breaks, as the budget reports them
}

// way is a way to play.
type way struct {
	name string
	mode toolsearch.Mode // "": ADK alone
	all  bool            // every layer of this module, not tool search alone
}

func ways() []way {
	return []way{
		{name: "ADK alone"}, {name: "Promote", mode: toolsearch.Promote}, {name: "Bridge", mode: toolsearch.Bridge},
		{name: "+ layers", mode: toolsearch.Bridge, all: true},
	}
}

// config has summaries written without a model, and at once, so that every run prints the same table.
func (w way) config(window int) longsession.Config {
	cfg := longsession.Config{ToolSearch: toolsearch.Config{Mode: w.mode, ContextWindow: window}}
	cfg.Compaction.Summarizer, cfg.Compaction.Synchronous = summarizer.Extractive{}, true
	if !w.all {
		cfg.Compaction.InvocationThreshold, cfg.Compaction.TokenThreshold = compaction.Off, compaction.Off
		cfg.Disable = []longsession.Layer{longsession.LayerToolResults, longsession.LayerBudget, longsession.LayerPrompt}
	}
	return cfg
}

// play works through the tasks in one way, with a server of its own.
func play(ctx context.Context, w way, name string, window, turns, different int) (g *game, err error) {
	g = &game{way: w, turns: turns, causes: map[budget.Cause]int{}}
	llm := &scripted{provider: &g.provider, name: name}
	transport, err := itself()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, transport.close()) }()
	tools, err := mcptoolset.New(mcptoolset.Config{Transport: transport})
	if err != nil {
		return nil, err
	}
	agentModel, sessions, plugins := model.LLM(llm), session.InMemoryService(), runner.PluginConfig{}
	if w.mode != "" {
		cfg := w.config(window)
		cfg.Budget.Observer = g.noteBreak
		stack, err := longsession.New(sessions, cfg)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stack.Close(ctx)) }()
		agentModel, sessions, plugins = stack.Model(llm), stack.Sessions, stack.PluginConfig()
		tools = toolsearch.Group(toolsearch.MCP, tools)
	}
	worker, err := llmagent.New(llmagent.Config{
		Name:        "worker",
		Instruction: "You keep a shop running. Use the tools. Report what you did in one sentence; never invent a result.",
		Model:       agentModel,
		Toolsets:    []tool.Toolset{tools},
	})
	if err != nil {
		return nil, err
	}
	r, err := runner.New(runner.Config{
		AppName: "shop", Agent: worker, SessionService: sessions, PluginConfig: plugins, AutoCreateSession: true,
	})
	if err != nil {
		return nil, err
	}
	for i := range turns {
		t := tasks[i%different]
		llm.open, llm.turnBegins = t.uses, true
		if err := g.turn(ctx, r, t.question); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	g.searches, g.missed = llm.searches, llm.missed
	return g, nil
}

func (g *game) noteBreak(_ context.Context, o budget.Observation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.Break != nil {
		g.causes[o.Break.Cause]++
	}
}

// turn runs one turn.
func (g *game) turn(ctx context.Context, r *runner.Runner, question string) error {
	for ev, err := range r.Run(ctx, "user", "session", genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse == nil || part.FunctionResponse.Name == toolsearch.SearchToolName {
				continue
			}
			g.calls++
			if output, _ := part.FunctionResponse.Response["output"].(string); strings.HasPrefix(output, part.FunctionResponse.Name+": done") {
				g.ran++
			}
		}
	}
	return nil
}

// each is how many tokens of declarations a call has.
func (g *game) each() float64 { return float64(g.declared) / float64(g.requests) }

// check is what must hold.
func check(games []*game, p price) error {
	alone, promote, bridge := games[0], games[1], games[2]
	for _, g := range games {
		if len(g.missed) > 0 || g.ran != g.calls || g.calls != alone.calls {
			return fmt.Errorf("%s: %d of %d calls succeeded, want %d; not found: %q", g.name, g.ran, g.calls, alone.calls, g.missed)
		}
	}
	// A compaction begins another epoch of tool search, which declares the tools that were used.
	if all := games[3]; all.causes[budget.CauseCompacted]+all.causes[budget.CauseTools] != all.breaks {
		return fmt.Errorf("%s: %d prompts break the prefix, and the causes are %v", all.name, all.breaks, all.causes)
	}
	switch {
	case bridge.breaks > 0:
		return fmt.Errorf("tool search broke the prefix of %d prompts", bridge.breaks)
	case bridge.each()*5 > alone.each():
		return fmt.Errorf("a call declares %.0f tokens, and without tool search %.0f: want at least 80%% less", bridge.each(), alone.each())
	case p.warm(bridge) >= p.warm(promote) || p.cold(bridge) >= p.cold(promote):
		return fmt.Errorf("tool search costs $%.4f and $%.4f, and with promotion $%.4f and $%.4f", p.warm(bridge), p.cold(bridge), p.warm(promote), p.cold(promote))
	}
	return nil
}
