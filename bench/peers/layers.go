package main

import (
	"context"
	"io"
	"sync"

	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// shaped applies layers of this module to each request, without compaction and without a limit. Either
// may be nil.
func shaped(cut *toolresult.Config, masking *toolresult.Masking) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, _ *oracle, window int) (app, error) {
		var cutter *toolresult.Cutter
		var masker *toolresult.Masker
		var err error
		if cut != nil {
			if cutter, err = toolresult.New(*cut); err != nil {
				return app{}, err
			}
		}
		if masking != nil {
			if masker, err = toolresult.NewMasker(*masking); err != nil {
				return app{}, err
			}
		}
		p, err := beforeModel("layers", func(req *model.LLMRequest) {
			if cutter != nil {
				eachResponse(req, func(tool string, response map[string]any) map[string]any {
					if short, _, changed := cutter.Response(tool, response); changed {
						return short
					}
					return nil
				})
			}
			masker.Apply(req, toolresult.Room{Effective: window, Fixed: tokens.OfContent(req.Config.SystemInstruction)}, nil)
		})
		return app{service: base, plugins: []*plugin.Plugin{p}}, err
	}
}

// layered is this module with all layers, as [longsession.New] puts them together: tool results cut in the
// view, masked in requests, and a budget that is measured on what is sent, around the compaction of config.
func layered(config func() compaction.Config) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, writer *oracle, window int) (app, error) {
		cfg := config()
		llm, err := summarizer.NewLLM(summarizer.LLMConfig{Model: writer, ContextWindow: writer.window})
		if err != nil {
			return app{}, err
		}
		cfg.Summarizer, cfg.ContextWindow, cfg.Observer = coding{llm}, window, observing(writer)
		kept := &aside{Memory: store.NewMemory(asideBytes), owners: map[string]store.Owner{}}
		stack, err := longsession.New(base, longsession.Config{Compaction: cfg, Results: kept, Budget: budget.Config{MaxOutputTokens: compaction.Off}})
		if err != nil {
			return app{}, err
		}
		return app{
			service: stack.Sessions, plugins: stack.PluginConfig().Plugins, model: stack.Model,
			rest: stack.Sessions.Flush, close: stack.Close, aside: anyOwner{kept},
		}, nil
	}
}

// asideBytes is room for all results of agents that run as tools.
const asideBytes = 64 << 20

// aside keeps these results, and whose they are: ADK names the sessions of such agents by itself.
type aside struct {
	*store.Memory
	mu     sync.Mutex
	owners map[string]store.Owner
}

// Put implements [store.Store].
func (a *aside) Put(ctx context.Context, owner store.Owner, tool string, result store.Result) error {
	a.mu.Lock()
	a.owners[result.Ref] = owner
	a.mu.Unlock()
	return a.Memory.Put(ctx, owner, tool, result)
}

// anyOwner opens a result whosever it is.
type anyOwner struct{ aside *aside }

// Open implements [store.Source].
func (a anyOwner) Open(ctx context.Context, _ store.Owner, ref string) (io.ReaderAt, int64, error) {
	a.aside.mu.Lock()
	owner := a.aside.owners[ref]
	a.aside.mu.Unlock()
	return a.aside.Memory.Open(ctx, owner, ref)
}
