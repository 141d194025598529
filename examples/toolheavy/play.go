package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

var ref = compaction.SessionRef{AppName: "toolheavy", UserID: "ada", SessionID: "tasks"}

// game is one play of all tasks, and what was seen of it.
type game struct {
	provider
	layers
	tasks   int
	wrong   int // tasks without the right answer
	toolSum int // bytes of all tool results

	mu        sync.Mutex
	cuts      []toolresult.Cut
	causes    map[budget.Cause]int
	unread    []string // references that cannot be read whole
	reads     int      // answers of read_result
	readBytes int
}

// layers is which part of the module a play uses.
type layers struct {
	name    string
	use     bool // false: ADK alone
	disable []longsession.Layer
}

func (l layers) cutsResults() bool {
	return l.use && !slices.Contains(l.disable, longsession.LayerToolResults)
}

// seesBreaks reports whether the layer that names causes takes part.
func (l layers) seesBreaks() bool {
	return l.use && !slices.Contains(l.disable, longsession.LayerBudget)
}

var plays = []layers{
	{name: "ADK alone"},
	{name: "compaction", use: true, disable: []longsession.Layer{longsession.LayerToolResults, longsession.LayerBudget}},
	{name: "all layers", use: true},
}

// playAll plays the tasks once for each set of layers, prints the table, and checks the last play.
func playAll(ctx context.Context, llm func(*provider) model.LLM, cfg longsession.Config, plays []layers, tasks int, out io.Writer) error {
	files := newTree()
	fmt.Fprintf(out, "%d tasks on a source tree of %d files, with a context window of %d tokens.\n\n", tasks, len(files), window)
	var games []*game
	for _, l := range plays {
		g, err := play(ctx, llm, files, cfg, l, tasks)
		if err != nil {
			return err
		}
		games = append(games, g)
	}
	table(out, games)
	last := games[len(games)-1]
	if err := last.check(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ntoolheavy ok: %d calls, largest prompt %d of %d tokens, %d results cut, all of them readable\n",
		last.requests, last.largest, window, len(last.cuts))
	return nil
}

// check is what must hold with every layer.
func (g *game) check() error {
	explained := 0
	for _, n := range g.causes {
		explained += n
	}
	switch {
	case g.over > 0:
		return fmt.Errorf("%d prompts do not fit into the window of %d tokens; the largest has %d", g.over, window, g.largest)
	case len(g.unread) > 0:
		return fmt.Errorf("%d results cannot be read back: %s", len(g.unread), strings.Join(g.unread, "; "))
	case explained != g.breaks:
		return fmt.Errorf("%d prompts break the prefix, and %d of these breaks have a cause", g.breaks, explained)
	}
	return nil
}

// play works through the tasks with some layers.
func play(ctx context.Context, llm func(*provider) model.LLM, files tree, cfg longsession.Config, l layers, tasks int) (g *game, err error) {
	g = &game{layers: l, tasks: tasks, provider: provider{window: window}, causes: map[budget.Cause]int{}}
	inner, agentModel := session.InMemoryService(), llm(&g.provider)
	service, plugins := inner, runner.PluginConfig{}
	if l.use {
		cfg.Disable, cfg.Recall.Disabled = l.disable, len(l.disable) > 0
		cfg.Compaction.ContextWindow = window
		cfg.ToolResults.Observer = g.noteCut
		cfg.Budget.Observer = g.noteBudget
		stack, err := longsession.New(inner, cfg)
		if err != nil {
			return nil, err
		}
		// Close waits until the observers know everything, so the game is complete after it.
		defer func() { err = errors.Join(err, stack.Close(ctx), g.readBack(ctx, inner)) }()
		service, plugins, agentModel = stack.Sessions, stack.PluginConfig(), stack.Model(agentModel)
	}
	r, err := newRunner(agentModel, files, service, plugins)
	if err != nil {
		return nil, err
	}
	for i := range tasks {
		if err := g.task(ctx, r, i); err != nil {
			return nil, fmt.Errorf("%s, task %d: %w", l.name, i+1, err)
		}
	}
	return g, nil
}

func newRunner(llm model.LLM, files tree, service session.Service, plugins runner.PluginConfig) (*runner.Runner, error) {
	tools, err := files.tools()
	if err != nil {
		return nil, err
	}
	reader, err := llmagent.New(llmagent.Config{
		Name:        "reader",
		Description: "reads a large source tree",
		Instruction: "You read Go packages and answer questions about them. Use the tools. Quote what you found; never guess.",
		Model:       llm,
		Tools:       tools,
	})
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{
		AppName: ref.AppName, Agent: reader, SessionService: service, PluginConfig: plugins, AutoCreateSession: true,
	})
}

// task runs one turn.
func (g *game) task(ctx context.Context, r *runner.Runner, i int) error {
	answer := ""
	for ev, err := range r.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(question(i), genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			answer += part.Text
			if part.FunctionResponse == nil {
				continue
			}
			size := len(encode(part.FunctionResponse.Response))
			if part.FunctionResponse.Name == toolresult.ReadResultName {
				g.reads, g.readBytes = g.reads+1, g.readBytes+size
				continue
			}
			g.toolSum += size
		}
	}
	if !strings.Contains(answer, fmt.Sprintf("%d per minute", retryBudget(i))) {
		g.wrong++
	}
	return nil
}

func (g *game) noteCut(c toolresult.Cut) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cuts = append(g.cuts, c)
}

func (g *game) noteBudget(_ context.Context, o budget.Observation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.Break != nil {
		g.causes[o.Break.Cause]++
	}
}

// readBack reads every shortened result whole from the session's storage, as read_result does, and
// compares it with what the tool returned.
func (g *game) readBack(ctx context.Context, inner session.Service) error {
	resp, err := inner.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return err
	}
	returned := map[string]string{}
	for ev := range resp.Session.Events().All() {
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse != nil {
				whole := store.ResultOf(part.FunctionResponse.Response)
				returned[whole.Ref] = whole.Content
			}
		}
	}
	source := store.Events(inner)
	for _, c := range g.cuts {
		reader, size, err := source.Open(ctx, ref, c.Ref)
		if err != nil {
			g.unread = append(g.unread, fmt.Sprintf("%s: %v", c.Ref, err))
			continue
		}
		data, err := io.ReadAll(io.NewSectionReader(reader, 0, size))
		if err != nil || string(data) != returned[c.Ref] {
			g.unread = append(g.unread, fmt.Sprintf("%s: %d bytes differ (%v)", c.Ref, len(data), err))
		}
	}
	return nil
}
