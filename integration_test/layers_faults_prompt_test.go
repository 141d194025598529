package integration_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// faultyToolset misbehaves whenever it is asked for its tools.
type faultyToolset struct {
	fault fault
	n     *atomic.Int32
}

func (faultyToolset) Name() string { return "faulty" }

func (s faultyToolset) Tools(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
	s.n.Add(1)
	return nil, s.fault(ctx)
}

// Whatever a source of a section, a toolset or an observer of the prompt and of tool search does: no turn fails,
// and each request is one that a provider accepts.
func TestNoTurnFailsWhateverAPartOfThePromptDoes(t *testing.T) {
	t.Parallel()
	for part, inject := range map[string]func(a *toolApp, f fault, n *atomic.Int32){
		"a source": func(a *toolApp, f fault, n *atomic.Int32) {
			source := prompt.SourceFunc(func(ctx context.Context) (string, error) {
				n.Add(1)
				return "", f(ctx)
			})
			a.cfg.Prompt = prompt.Config{Project: source, Status: source, SourceTimeout: 50 * time.Millisecond}
		},
		"a toolset": func(a *toolApp, f fault, n *atomic.Int32) {
			before := a.more
			a.more = func(cfg *llmagent.Config) {
				before(cfg)
				group, err := toolsearch.NewGroup(toolsearch.GroupConfig{Category: toolsearch.MCP, Toolset: faultyToolset{f, n}, Timeout: 50 * time.Millisecond})
				if err != nil {
					a.t.Fatal(err)
				}
				cfg.Toolsets = append(cfg.Toolsets, group)
			}
		},
		"the prompt's observer": func(a *toolApp, f fault, n *atomic.Int32) {
			var read atomic.Int32
			a.cfg.Prompt = prompt.Config{
				Memories: prompt.SourceFunc(func(context.Context) (string, error) {
					return fmt.Sprint("Memory ", read.Add(1)), nil // each turn reports a change
				}),
				Observer: func(ctx context.Context, _ prompt.Observation) {
					n.Add(1)
					_ = f(ctx)
				},
			}
		},
		"tool search's observer": func(a *toolApp, f fault, n *atomic.Int32) {
			a.cfg.ToolSearch.Observer = func(ctx context.Context, _ toolsearch.Observation) {
				n.Add(1)
				_ = f(ctx)
			}
		},
	} {
		for kind, f := range faults {
			t.Run(part+" "+kind, func(t *testing.T) {
				t.Parallel()
				withFault(t, f, func(t *testing.T, f fault) {
					var n atomic.Int32
					a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
						a.leaky = strings.HasPrefix(kind, "hangs")
						withCatalog(a)
						inject(a, f, &n)
					})
					a.play(3)
					if n.Load() == 0 {
						t.Error("the part was never called")
					}
				})
			})
		}
	}
}
