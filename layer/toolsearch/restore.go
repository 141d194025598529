package toolsearch

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// restore takes back what the plugin has done to a request, and keeps what callbacks have done to it since.
// The wrapper then decides about the request as if there were no plugin, so that the bytes do not depend
// on it: between the two, other plugins may declare more, such as read_result.
func restore(req *model.LLMRequest) {
	search, ok := req.Tools[SearchToolName].(*searchTool)
	if !ok || search.before == nil || req.Config == nil {
		return
	}
	now := map[string]*genai.FunctionDeclaration{SearchToolName: nil, CallToolName: nil}
	eachDeclaration(req.Config.Tools, func(d *genai.FunctionDeclaration) {
		if _, known := now[d.Name]; !known {
			now[d.Name] = d
		}
	})
	old := make(map[string]bool, len(now))
	eachDeclaration(search.before, func(d *genai.FunctionDeclaration) { old[d.Name] = true })
	deferred := make(map[string]bool, len(search.entries))
	for _, e := range search.entries {
		deferred[e.decl.Name] = true
	}
	r := restored{req: req, now: now, deferred: deferred}
	for _, t := range search.before {
		r.tool(t)
	}
	r.more(search.before, old)
	config := *req.Config
	config.Tools = r.tools
	req.Config = &config
	delete(req.Tools, SearchToolName)
	if _, ours := req.Tools[CallToolName].(*callTool); ours {
		delete(req.Tools, CallToolName)
	}
}

// restored is a list of tools that is put together again.
type restored struct {
	req       *model.LLMRequest
	now       map[string]*genai.FunctionDeclaration // nil for our own
	deferred  map[string]bool
	tools     []*genai.Tool
	functions *genai.Tool // the first with functions
}

// tool adds a tool as it was, without the declarations that were removed since.
func (r *restored) tool(t *genai.Tool) {
	if t == nil || len(t.FunctionDeclarations) == 0 {
		if slices.Contains(r.req.Config.Tools, t) {
			r.tools = append(r.tools, t)
		}
		return
	}
	copied := *t
	copied.FunctionDeclarations = make([]*genai.FunctionDeclaration, 0, len(t.FunctionDeclarations))
	for _, d := range t.FunctionDeclarations {
		switch {
		case d == nil:
		case r.deferred[d.Name]:
			copied.FunctionDeclarations = append(copied.FunctionDeclarations, d)
		case r.now[d.Name] != nil:
			copied.FunctionDeclarations = append(copied.FunctionDeclarations, r.now[d.Name])
		}
	}
	if r.functions == nil {
		r.functions = &copied
	}
	r.tools = append(r.tools, &copied)
}

// more adds what was declared since, behind all others.
func (r *restored) more(before []*genai.Tool, old map[string]bool) {
	for _, t := range r.req.Config.Tools {
		if t != nil && len(t.FunctionDeclarations) == 0 && !slices.Contains(before, t) {
			r.tools = append(r.tools, t)
		}
	}
	eachDeclaration(r.req.Config.Tools, func(d *genai.FunctionDeclaration) {
		if own, known := r.now[d.Name]; !old[d.Name] && (!known || own != nil) {
			r.functions.FunctionDeclarations = append(r.functions.FunctionDeclarations, d)
		}
	})
}
