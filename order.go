package longsession

import (
	"context"
	"errors"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// row is one row of the stack's order: what a layer puts around the app. Fields that are nil put nothing there.
type row struct {
	name string // the package comment says under it why the row is where it is
	on   bool
	// wrap puts the layer around a model. A layer recognizes itself, so wrapping twice changes nothing.
	wrap func(model.LLM) model.LLM
	// before makes the plugin in front of the app's own: one that touches events, because a plugin of the app that
	// answers hides an event from all behind it. It may return nil.
	before func() *plugin.Plugin
	// behind makes the plugin behind the app's own: one that touches requests, or that answers. It may return nil.
	behind func() *plugin.Plugin
	close  func(context.Context) error
}

// order returns the rows from the provider outward. Models are wrapped from the first row to the last, plugins in front
// of the app's run from the first to the last, those behind it from the last to the first, and layers are closed from
// the first to the last. A new layer is a row here, with its name in the package comment.
//
// It works on a stack that is only half made, so that what there is of it can be closed.
func (b *builder) order() []row {
	return []row{
		{name: "guard", on: b.Guard != nil, wrap: b.Guard.Model, before: b.Guard.Plugin, close: b.Guard.Flush},
		{name: "translate", on: b.search != nil, wrap: b.search.Translate},
		{name: "errors", on: b.cutter != nil, before: func() *plugin.Plugin { return b.unknown }, close: b.cutter.Flush},
		{name: "measure", on: true, behind: onRequests("longsession-requests", b.measure)},
		{name: "note", on: b.meter != nil && b.cfg.uses(LayerBudget), before: b.meter.Plugin},
		{name: "budget", on: b.meter != nil, wrap: b.meter.Model, close: b.meter.Flush},
		{name: "defer", on: b.search != nil, wrap: b.search.Select, behind: b.search.Plugin, close: b.search.Flush},
		{name: "tools", on: len(b.tools) > 0 || b.Recall != nil, wrap: b.offerRecall, behind: onRequests("longsession-tools", b.declare)},
		{name: "sections", on: b.prompt != nil, wrap: b.prompt.Model, before: b.prompt.Plugin, behind: b.prompt.MessagePlugin, close: b.prompt.Flush},
		{name: "recall", on: b.Recall != nil, close: b.Recall.Flush},
	}
}

// arrange makes the plugins once, so that every runner has the same ones, and keeps the rows that are on.
func (s *Stack) arrange(rows []row) {
	for _, row := range rows {
		if !row.on {
			continue
		}
		s.order = append(s.order, row)
		if p := made(row.before); p != nil {
			s.before = append(s.before, p)
		}
		if p := made(row.behind); p != nil {
			s.behind = append([]*plugin.Plugin{p}, s.behind...)
		}
	}
}

// made calls a constructor, if there is one.
func made(plugin func() *plugin.Plugin) *plugin.Plugin {
	if plugin == nil {
		return nil
	}
	return plugin()
}

// wrap puts every layer that is on around a model.
func (s *Stack) wrap(llm model.LLM) model.LLM {
	for _, row := range s.order {
		if row.wrap != nil {
			llm = row.wrap(llm)
		}
	}
	return llm
}

// closeLayers ends the layers that are on.
func closeLayers(ctx context.Context, rows []row) error {
	var problems []error
	for _, row := range rows {
		if row.on && row.close != nil {
			problems = append(problems, row.close(ctx))
		}
	}
	return errors.Join(problems...)
}

// onRequests makes a plugin that touches requests.
func onRequests(name string, before llmagent.BeforeModelCallback) func() *plugin.Plugin {
	return func() *plugin.Plugin {
		p, err := plugin.New(plugin.Config{Name: name, BeforeModelCallback: before})
		if err != nil {
			panic("longsession: plugin.New refuses a name and a callback: " + err.Error()) // ADK never does
		}
		return p
	}
}

// declare declares what the layers offer, as far as the request has a use for it. For read_result, the wrapper of
// [Stack.Model] does it again on the final request.
func (s *Stack) declare(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	s.declareIn(req, s.tools)
	s.declareRecall(req, ctx.AgentName)
	return nil, nil
}

func (s *Stack) declareIn(req *model.LLMRequest, tools []tool.Tool) {
	defer s.places.Survive("longsession: tools in a request") // a request of another make; the turn goes on without us
	for _, t := range tools {
		adk.Declare(req, t)
	}
}

// measure has compaction measure the request, for the same agents.
func (s *Stack) measure(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer s.places.Survive("longsession: the size of a request")
	return s.Sessions.ObserveRequest(ctx, req)
}
