package main

import (
	"context"
	"errors"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

var ref = compaction.SessionRef{AppName: "longrun", UserID: "nobody", SessionID: "walk"}

// process is one start of the app: only the session file outlives it.
type process struct {
	stack  *longsession.Stack
	runner *runner.Runner
	close  func(context.Context) error
}

// settings turn every layer on. Summaries are written without a model, and at once, so that every walk is the
// same.
func settings(registry *tokens.Registry, ceiling tokens.Nano, observer func(context.Context, guard.Observation)) longsession.Config {
	cfg := longsession.Config{
		Registry: registry,
		Guard: guard.Config{
			Turn:     guard.Limits{USD: tokens.Dollar, ModelCalls: 25},
			Session:  guard.Limits{USD: ceiling},
			Watchdog: watchdog.Config{Mode: watchdog.Stop},
			Observer: observer,
		},
		ContextTools: contexttool.Config{Enabled: true},
	}
	cfg.Compaction.ContextWindow = window
	cfg.Compaction.Synchronous = true
	cfg.Compaction.Summarizer = summarizer.Extractive{}
	return cfg
}

// open starts the app.
func (w *walk) open() (p *process, err error) {
	p = &process{}
	var closers []func(context.Context) error
	p.close = func(ctx context.Context) error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i](ctx))
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close(context.Background()))
		}
	}()

	service, err := persistence.NewSQLiteSessionService(w.file)
	if err != nil {
		return nil, err
	}
	closers = append(closers, func(context.Context) error { return service.Close() })
	p.stack, err = longsession.New(service, settings(w.provider.registry, w.ceiling(), w.note))
	if err != nil {
		return nil, err
	}
	closers = append(closers, p.stack.Close)

	files, err := tools.NewFiles(tools.FilesConfig{Root: w.folder})
	if err != nil {
		return nil, err
	}
	closers = append(closers, func(context.Context) error { return files.Close() })
	fetch, err := tools.NewFetch(tools.FetchConfig{})
	if err != nil {
		return nil, err
	}
	p.runner, err = w.runner(p.stack, append(files.Tools(), fetch))
	return p, err
}

// runner puts the agent together: the bare tools, those over subtasks, and the layers around all of it.
func (w *walk) runner(stack *longsession.Stack, bare []tool.Tool) (*runner.Runner, error) {
	reads := &scripted{name: small, provider: &w.provider, step: reader}
	subtasks, err := stack.Subtasks(subtask.Config{Model: reads})
	if err != nil {
		return nil, err
	}
	agentic, err := subtasks.Wrappers(bare...)
	if err != nil {
		return nil, err
	}
	walks := &scripted{name: large, provider: &w.provider, step: w.walker.next}
	made, err := llmagent.New(llmagent.Config{
		Name:        "walker",
		Description: "walks a source tree",
		Instruction: "You read Go packages and answer questions about them. Use the tools. Quote what you found; never guess.",
		Model:       stack.Model(walks),
		Tools:       append(bare, agentic...),
	})
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{
		AppName: ref.AppName, Agent: made, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true,
	})
}

// turn runs one turn and returns the text that the model has written, and how many tool results are errors.
func (p *process) turn(ctx context.Context, message string) (answer string, failed int, err error) {
	for ev, err := range p.runner.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(message, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return answer, failed, err
		}
		text, errs := read(ev)
		answer, failed = answer+text, failed+errs
	}
	return answer, failed, nil
}

func read(ev *session.Event) (text string, failed int) {
	if ev.Content == nil || ev.Partial {
		return "", 0
	}
	for _, part := range ev.Content.Parts {
		text += part.Text
		if part.FunctionResponse != nil && part.FunctionResponse.Response["error"] != nil {
			failed++
		}
	}
	return text, failed
}
