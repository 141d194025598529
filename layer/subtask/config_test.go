package subtask_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
)

func TestEachWrongValueOfAConfigIsNamed(t *testing.T) {
	t.Parallel()
	var none *llm
	_, err := subtask.New(subtask.Config{
		Model: none, Parent: none, Confirmations: "maybe", Limits: guard.Limits{USD: -1, ModelCalls: -1, Tokens: -1, Wall: -time.Second},
		MaxReplyTokens: -1, Depth: -1, Parallel: -1, Plugins: []*plugin.Plugin{nil},
		BeforeTool: []llmagent.BeforeToolCallback{nil}, AfterTool: []llmagent.AfterToolCallback{nil},
	})
	for _, field := range []string{
		"Service is nil", "Model is nil", "Parent is nil", `Confirmations is "maybe"`, "Limits.USD is -$0.0000", "Limits.ModelCalls is -1", "Limits.Tokens is -1",
		"Limits.Wall is -1s", "MaxReplyTokens is -1", "Depth is -1", "Parallel is -1", "Plugins is nil", "BeforeTool is nil", "AfterTool is nil",
	} {
		if err == nil || !strings.Contains(err.Error(), field+": ") {
			t.Errorf("no %q in %v", field, err)
		}
	}
	var first *compaction.ConfigError
	if !errors.As(err, &first) || first.Field != "Service" || first.Reason == "" {
		t.Errorf("the first is %+v", first)
	}
}

func TestEachWrongValueOfASpecIsNamed(t *testing.T) {
	t.Parallel()
	r, err := subtask.New(subtask.Config{Service: session.InMemoryService()})
	must(t, err)
	for field, spec := range map[string]subtask.Spec{
		`Spec.Message is " "`:          {Message: " "},
		`Spec.Name is "user"`:          {Name: "user"},
		"Spec.Model is nil":            {},
		"Spec.MaxTurns is -1":          {MaxTurns: -1},
		"Spec.Wall is -1s":             {Wall: -time.Second},
		"Spec.Tokens is -1":            {Tokens: -1},
		"Spec.USD is -$0.0000":         {USD: -1},
		"Spec.MaxReplyTokens is 20":    {MaxReplyTokens: 20},
		"Spec.MaxReplyTokens is -1000": {MaxReplyTokens: -1000},
		"Spec.Tools is nil":            {Tools: []tool.Tool{nil}},
	} {
		a := &asker{r: r, spec: spec}
		p := &parent{t: t, svc: session.InMemoryService(), tools: []tool.Tool{a.tool(t)}, llm: once("delegate", map[string]any{"ask": ""})}
		p.say("go")
		if len(a.errs) != 1 || a.errs[0] == nil || !strings.Contains(a.errs[0].Error(), field+": ") {
			t.Errorf("no %q in %v", field, a.errs)
		}
		if len(p.children()) != 0 {
			t.Errorf("%s: a session was created", field)
		}
	}
	if _, err := r.RunSubtask(nil, subtask.Spec{}); err == nil {
		t.Error("a nil context is taken")
	}
}

// Without a model of its own a subtask runs on the parent's, and the result, the digest and the observer say so.
func TestTheParentsModelIsTheLastResort(t *testing.T) {
	t.Parallel()
	svc := session.InMemoryService()
	var ended []subtask.Result
	child := says(large, say("fine"))
	p, a := delegating(t, svc, nil, subtask.Spec{Message: "?"}, func(cfg *subtask.Config) {
		cfg.Model, cfg.Parent = nil, child
		cfg.Observer = func(_ context.Context, o subtask.Observation) {
			if o.Kind == subtask.Ended {
				ended = append(ended, o.Result)
			}
		}
	})
	p.say("go")
	wrapped, err := a.r.Wrappers(readFile(t, nil))
	must(t, err)
	p.tools, p.llm = wrapped, once(subtask.ReadFileName, map[string]any{"path": "x", "question": "?"})
	digest := responseOf(t, p.say("go"), subtask.ReadFileName)
	must(t, a.r.Flush(t.Context()))
	got := a.only(t)
	if !got.ParentModel || got.Model != large || len(ended) != 2 || !ended[1].ParentModel || !strings.HasSuffix(text(digest["usage"]), " (on the parent's model gemini-2.5-pro)") {
		t.Errorf("result %+v, observed %+v, digest %v", got, ended, digest)
	}

	own := says("own-model", say("mine"))
	b := &asker{r: a.r, spec: subtask.Spec{Message: "?", Model: own}}
	p.tools, p.llm = []tool.Tool{b.tool(t)}, once("delegate", map[string]any{"ask": ""})
	p.say("go")
	if got := b.only(t); got.ParentModel || got.Model != "own-model" || got.Text != "mine" {
		t.Errorf("the result with a model of its own is %+v", got)
	}
}

// The app's layers, plugins and tool callbacks reach a subtask.
func TestASubtaskHasTheLayersOfTheConfig(t *testing.T) {
	t.Parallel()
	var order []string
	watch, err := plugin.New(plugin.Config{Name: "watch", BeforeToolCallback: func(agent.ToolContext, tool.Tool, map[string]any) (map[string]any, error) {
		order = append(order, "plugin")
		return nil, nil
	}})
	must(t, err)
	look := function(t, "look", func(agent.ToolContext, question) (map[string]any, error) { return map[string]any{"n": 7}, nil })
	child := says(small, call("look", map[string]any{"ask": "x"}), say("fine"))
	p, a := delegating(t, session.InMemoryService(), child, subtask.Spec{Message: "?", Tools: []tool.Tool{look}}, func(cfg *subtask.Config) {
		cfg.Plugins = []*plugin.Plugin{watch}
		cfg.Wrap = func(m model.LLM) model.LLM { return slowed{m, func() { order = append(order, "layer") }} }
		cfg.BeforeTool = append(cfg.BeforeTool, func(agent.ToolContext, tool.Tool, map[string]any) (map[string]any, error) {
			order = append(order, "before")
			return nil, nil
		})
		cfg.AfterTool = append(cfg.AfterTool, func(agent.ToolContext, tool.Tool, map[string]any, map[string]any, error) (map[string]any, error) {
			order = append(order, "after")
			return map[string]any{"n": "cut"}, nil
		})
	})
	p.say("go")
	if got := strings.Join(order, " "); got != "layer plugin before after layer" || a.only(t).Text != "fine" || !strings.Contains(child.seen()[1], `"n":"cut"`) {
		t.Errorf("called %s", got)
	}
	q, b := delegating(t, session.InMemoryService(), child, subtask.Spec{Message: "?"}, func(cfg *subtask.Config) {
		cfg.Wrap = func(model.LLM) model.LLM { return nil }
	})
	q.say("go")
	if b.errs[0] == nil || !strings.Contains(b.errs[0].Error(), "Config.Wrap has returned a nil model") || len(q.children()) != 0 {
		t.Errorf("a nil model: %v", b.errs[0])
	}
}
