package toolsearch

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/window"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// Model wraps llm so that the declarations of many tools stay out of its prompts. Give the result to the
// agent. One Deferral serves any number of models and agents, at once.
//
// It is [Deferral.Select] around [Deferral.Translate]. A layer that measures or changes requests, such as
// package budget, belongs between the two: it then sees the declarations that are sent, and the real
// names of the tools that were called.
//
// In live runs, in requests without an agent, and in those of an agent with a Run function of its own,
// nothing is deferred. With Threshold Off, Model returns llm itself.
func (d *Deferral) Model(llm model.LLM) model.LLM {
	if d.cfg.Threshold == Off {
		return llm
	}
	return d.Select(d.Translate(llm))
}

// Select wraps llm so that declarations are taken out of each request that has too many, and tool_search and
// tool_call are added in their place. It is the outer half of [Deferral.Model], and of no use without the
// inner one: the model's calls of tool_call have to become calls of the tools.
//
// The request is changed in place, except that its Config and all below it are copied first. Nothing is
// deferred where no function can be declared (see [toolresult.TakesFunction]), where the app has a tool
// named tool_search or tool_call, and where the declarations would not become smaller. Such a request, one
// below the threshold, and one in which [Deferral.Plugin] has deferred tools already, are passed on as they
// are.
//
// If llm has this layer already, and with Threshold Off, Select returns llm itself. If llm is nil, each call
// of the result returns an error.
func (d *Deferral) Select(llm model.LLM) model.LLM {
	if d.cfg.Threshold == Off || wrapper.Wraps(llm, &d.selects) {
		return llm
	}
	s := &selecting{d, llm}
	return wrapper.New(llm, &d.selects, "toolsearch", s.generate)
}

// owner is the owner of a wrapper. It is known by its address.
type owner struct{ _ byte }

// selecting is a model with a selection in front of its calls.
type selecting struct {
	*Deferral
	inner model.LLM
}

// generate defers what has to be deferred, and calls the model.
func (s *selecting) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	if byPlugin(req) || s.exceeds(req, s.inner.Name()) {
		s.model(ctx, req, window.ModelOf(s.inner.Name(), req))
	}
	return s.inner.GenerateContent(ctx, req, stream)
}

// byPlugin reports whether the plugin has deferred tools in a request.
func byPlugin(req *model.LLMRequest) bool {
	if req == nil {
		return false
	}
	search, ok := req.Tools[SearchToolName].(*searchTool)
	return ok && search.before != nil
}

// exceeds reports whether the declarations of a request are over the threshold. It allocates nothing.
func (d *Deferral) exceeds(req *model.LLMRequest, name string) (over bool) {
	defer d.places.Survive("toolsearch: the size of the declarations") // a schema of the app's may panic when it is measured
	if req == nil || req.Config == nil || len(req.Tools) == 0 || len(req.Config.Tools) == 0 {
		return false
	}
	size, _ := promptsize.OfTools(req.Config.Tools)
	return size > d.limit(req, window.ModelOf(name, req))
}

// limit is how much the declarations of a request may take up, in estimated tokens.
func (d *Deferral) limit(req *model.LLMRequest, name string) int {
	return int(d.cfg.Threshold * float64(d.windows.For(name, req).Effective()))
}

// model handles a request over the threshold that is on its way to a model.
func (d *Deferral) model(ctx context.Context, req *model.LLMRequest, name string) {
	who, ic := callerOf(ctx, name)
	if ic == nil || adk.IsCustom(ic.Agent()) {
		return
	}
	d.wrapped.Add(who.agentKey(), struct{}{})
	d.request(&outgoing{ctx: ctx, who: who, session: ic.Session(), req: req})
}

// outgoing is one request over the threshold.
type outgoing struct {
	early   bool // the plugin handles it, and a wrapper will do so again if the model is wrapped
	ctx     context.Context
	who     caller
	session session.Session
	req     *model.LLMRequest
}

// request defers tools in a request. If anything fails, it stays as it was.
func (d *Deferral) request(c *outgoing) {
	defer func() {
		if panicked := recover(); panicked != nil {
			o := c.who.observation(Failed)
			o.Reason, o.Err = "the request is sent with all declarations", fmt.Errorf("panic: %v", panicked)
			d.observe(c.ctx, o)
		}
	}()
	restore(c.req)
	if _, done := c.req.Tools[SearchToolName].(*searchTool); done {
		return
	}
	size, hash := promptsize.OfTools(c.req.Config.Tools)
	limit := d.limit(c.req, c.who.model)
	if size <= limit || !adk.TakesFunction(c.req.Config) || d.taken(c) {
		return
	}
	found, declared := d.cfg.candidates(c.req)
	if len(found) == 0 {
		return
	}
	rank(found, usesBefore(c.session, c.who.agent, c.who.branch))
	deferred := choose(found, size, d.ours.most(found, limit), limit)
	if len(deferred) > 0 {
		search := d.search(deferred, hash, limit)
		if c.early {
			copied := *search
			copied.before = c.req.Config.Tools
			search = &copied
		}
		d.replace(c.req, deferred, search)
	}
	d.report(c, deferred, declared, size)
}

// replace takes declarations away, and puts the two tools in their place.
func (d *Deferral) replace(req *model.LLMRequest, deferred []entry, search *searchTool) {
	if d.cfg.Mode == Promote {
		more := []*genai.FunctionDeclaration{search.Declaration()}
		for _, e := range promoted(req.Contents, deferred) {
			more = append(more, e.decl)
		}
		declare(req, deferred, more)
		req.Tools[SearchToolName] = search
		return
	}
	call := newCallTool(deferred, req.Tools)
	declare(req, deferred, []*genai.FunctionDeclaration{search.Declaration(), call.Declaration()})
	req.Tools[SearchToolName], req.Tools[CallToolName] = search, call
}
