package subtask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// pluginName is the name of the plugin that every subtask's runner has.
const pluginName = "longsession-subtask"

// runner builds the agent of the subtask and ADK's runner for it.
func (t *task) runner() (running, error) {
	llm := t.r.cfg.Guard.Model(t.landing.model(t.spec.Model))
	if t.r.cfg.Wrap != nil {
		if llm = t.r.cfg.Wrap(llm); adk.IsNil(llm) {
			return nil, errors.New("Config.Wrap has returned a nil model")
		}
	}
	cfg := llmagent.Config{
		Name: t.spec.Name, Model: llm, Tools: catch(t.spec.Tools),
		BeforeToolCallbacks: t.r.cfg.BeforeTool, AfterToolCallbacks: t.r.cfg.AfterTool,
	}
	if system := t.spec.System; system != "" {
		// ADK replaces {name} in an Instruction by state, which is the parent's for keys of the user and the
		// app. It leaves the text of a provider as it is.
		cfg.InstructionProvider = func(agent.ReadonlyContext) (string, error) { return system, nil }
	}
	child, err := llmagent.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("its agent: %w", err)
	}
	keep, err := plugin.New(plugin.Config{Name: pluginName, OnEventCallback: keepState})
	if err != nil {
		return nil, fmt.Errorf("its plugin: %w", err)
	}
	run, err := runner.New(runner.Config{
		AppName: t.child.AppName, Agent: child, SessionService: t.r.cfg.Service,
		PluginConfig: runner.PluginConfig{Plugins: append([]*plugin.Plugin{t.r.cfg.Guard.Plugin(), keep}, t.r.cfg.Plugins...)},
	})
	if err != nil {
		return nil, fmt.Errorf("its runner: %w", err)
	}
	mode := agent.RunConfig{}
	if t.r.cfg.Stream {
		mode.StreamingMode = agent.StreamingModeSSE
	}
	t.reply.streaming = t.r.cfg.Stream
	return func(ctx context.Context, message *genai.Content) error {
		for ev, err := range run.Run(ctx, t.child.UserID, t.child.SessionID, message, mode) {
			if err != nil {
				return err
			}
			t.reply.note(ev)
		}
		return nil
	}, nil
}

// keepState keeps what a subtask's tools write to the state of the user and of the app out of storage: the
// parent's session would show it. State of the session itself stays.
func keepState(_ agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	for key := range ev.Actions.StateDelta {
		if strings.HasPrefix(key, session.KeyPrefixUser) || strings.HasPrefix(key, session.KeyPrefixApp) {
			delete(ev.Actions.StateDelta, key)
		}
	}
	return nil, nil
}

// landing notices that the guard has sent a call without tools, because it is the last one that fits under a
// limit: the answer to it may be incomplete.
type landing struct{ seen atomic.Bool }

// model returns a model that refuses calls once its context has ended, which ADK does not check.
func (l *landing) model(llm model.LLM) model.LLM {
	return wrapper.New(llm, l, "subtask", func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			l.seen.Store(withoutTools(req))
			for resp, err := range llm.GenerateContent(ctx, req, stream) {
				if !yield(resp, err) {
					return
				}
			}
		}
	})
}

// withoutTools reports whether a request declares tools and forbids to call them.
func withoutTools(req *model.LLMRequest) bool {
	if req == nil || req.Config == nil || len(req.Config.Tools) == 0 || req.Config.ToolConfig == nil {
		return false
	}
	calling := req.Config.ToolConfig.FunctionCallingConfig
	return calling != nil && calling.Mode == genai.FunctionCallingConfigModeNone
}
