package toolsearch

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// Translate wraps llm so that it sees calls of deferred tools as calls of tool_call, and everything else
// sees calls of tool_call as calls of the tools themselves. It is the inner half of [Deferral.Model]: it
// changes only what is sent, and has to stand inside of everything that measures or changes requests.
//
// In requests that declare tool_call, calls of tools that are not declared, and the responses to them, are
// sent under the name tool_call. That includes tools that the agent has no longer. The request of the caller
// and the session are not changed. The translation depends on the request alone.
//
// In responses, a call of tool_call becomes the call of its tool, if that exists and the arguments fit its
// parameters. ADK then runs the tool, calls the callbacks, asks for the confirmation and stores the call
// as if it had been declared. IDs and thought signatures stay as they are. A call that does not fit is left
// as it is, and answered with an error. Arguments that the model streams in pieces stay those of tool_call
// in partial responses; the final response has the call of the tool.
//
// Gemini may end a response with UNEXPECTED_TOOL_CALL if the model calls a tool that is not declared. If
// that response has no content, the request is sent once more, as if nothing had been deferred. Responses
// then report the usage of this second attempt, because what reads it takes the prompt's tokens for the
// size of one prompt. The usage of the first is in the [Observation] of kind [Retried]. In [Promote] mode,
// the second attempt is all that Translate adds.
//
// Requests in which nothing is deferred are passed on as they are. If llm is translated already, Translate
// returns llm.
func (d *Deferral) Translate(llm model.LLM) model.LLM {
	owner := translator{d}
	if wrapper.Wraps(llm, owner) {
		return llm
	}
	t := &translated{Deferral: d, inner: llm}
	return wrapper.New(llm, owner, "toolsearch", t.generate)
}

// translator is the owner of the wrapper. It differs from that of [Deferral.Select].
type translator struct{ *Deferral }

// translated is a model with a translation around its calls.
type translated struct {
	*Deferral
	inner model.LLM
}

// generate calls the model with the request as it is to see it.
func (t *translated) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	b := bridgeOf(req)
	if b == nil {
		return t.inner.GenerateContent(ctx, req, stream)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		first := &attempt{bridge: b, yield: yield}
		if !first.run(t.inner.GenerateContent(ctx, b.request(req), stream)) {
			return
		}
		t.observe(ctx, first.retried(ctx, req))
		second := &attempt{bridge: b, yield: yield, last: true}
		second.run(t.inner.GenerateContent(ctx, b.undeferred(req), stream))
		if !second.yielded {
			first.release()
		}
	}
}

// bridge translates between a model that knows tool_call and an agent that does not.
type bridge struct {
	call     *callTool // nil if the model calls all tools by their names
	deferred []entry
	declared map[string]bool // the names in the request
}

// bridgeOf returns the bridge of a request, nil if nothing is deferred in it.
func bridgeOf(req *model.LLMRequest) *bridge {
	if req == nil || req.Config == nil {
		return nil
	}
	var deferred []entry
	if search, ok := req.Tools[SearchToolName].(*searchTool); ok && search != nil {
		deferred = search.entries
	}
	call, _ := req.Tools[CallToolName].(*callTool)
	if call != nil {
		deferred = call.deferred
	}
	if len(deferred) == 0 {
		return nil
	}
	b := &bridge{call: call, deferred: deferred, declared: declaredIn(req)}
	if !b.declared[CallToolName] {
		b.call = nil
	}
	if b.call == nil && !b.declared[SearchToolName] {
		return nil
	}
	return b
}

// declaredIn returns the names of all functions that a request declares.
func declaredIn(req *model.LLMRequest) map[string]bool {
	names := map[string]bool{}
	for _, t := range req.Config.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				names[d.Name] = true
			}
		}
	}
	return names
}

// bridges reports whether the model sees calls of a tool as calls of tool_call. Calls by which ADK works
// keep their names: the model must not learn to send them through tool_call.
func (b *bridge) bridges(name string) bool {
	return name != "" && !b.declared[name] && name != SearchToolName && !adk.IsExempt(name)
}

// request returns the request as it is sent. It is req itself if nothing in it is translated.
func (b *bridge) request(req *model.LLMRequest) *model.LLMRequest {
	if b.call == nil {
		return req
	}
	contents, changed := b.contents(req.Contents)
	if !changed {
		return req
	}
	sent := *req
	sent.Contents = contents
	return &sent
}

// undeferred returns the request as it would be if nothing were deferred, except that tool_search and
// tool_call are declared as well: the conversation may hold calls of them.
func (b *bridge) undeferred(req *model.LLMRequest) *model.LLMRequest {
	sent, config := *req, *req.Config
	config.Tools = make([]*genai.Tool, len(req.Config.Tools))
	copy(config.Tools, req.Config.Tools)
	for i, t := range config.Tools {
		if t == nil || len(t.FunctionDeclarations) == 0 {
			continue
		}
		functions := *t
		functions.FunctionDeclarations = append([]*genai.FunctionDeclaration(nil), t.FunctionDeclarations...)
		for _, deferred := range b.deferred {
			if deferred.decl != nil && !b.declared[deferred.decl.Name] {
				functions.FunctionDeclarations = append(functions.FunctionDeclarations, deferred.decl)
			}
		}
		config.Tools[i] = &functions
		break
	}
	sent.Config = &config
	return &sent
}
