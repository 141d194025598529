package toolsearch

import (
	"cmp"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// candidate is a declaration that may be deferred.
type candidate struct {
	entry
	size int // estimated tokens
	used int // by how many tools it was used later than them; 0 if no use is known
}

// candidates returns what may be deferred of a request, in the order of the declarations, and their number
// with all others.
//
// A tool that is declared twice stays declared, and so does one that ADK could not dispatch.
func (c *Config) candidates(req *model.LLMRequest) (found []candidate, declared int) {
	times := make(map[string]int, len(req.Tools))
	eachDeclaration(req.Config.Tools, func(d *genai.FunctionDeclaration) {
		times[d.Name]++
		declared++
	})
	allowed := allowedNames(req.Config.ToolConfig)
	eachDeclaration(req.Config.Tools, func(d *genai.FunctionDeclaration) {
		t, ok := req.Tools[d.Name].(tool.Tool)
		if !ok || times[d.Name] > 1 || adk.IsExempt(d.Name) || slices.Contains(c.Keep, d.Name) || slices.Contains(allowed, d.Name) {
			return
		}
		if category := c.categoryOf(t); category != BuiltIn {
			found = append(found, candidate{entry: entry{t, d, category}, size: promptsize.OfDeclaration(d)})
		}
	})
	return found, declared
}

// eachDeclaration calls f with every function declaration.
func eachDeclaration(tools []*genai.Tool, f func(*genai.FunctionDeclaration)) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				f(d)
			}
		}
	}
}

// allowedNames are the functions to which a request restricts the model: their declarations must be there.
func allowedNames(config *genai.ToolConfig) []string {
	if config == nil || config.FunctionCallingConfig == nil {
		return nil
	}
	return config.FunctionCallingConfig.AllowedFunctionNames
}

// rank sets how recently each candidate was used. Names has the tools that were used, the least recent
// first.
func rank(found []candidate, names []string) {
	if len(names) == 0 {
		return
	}
	order := make(map[string]int, len(names))
	for i, name := range names {
		order[name] = i + 1
	}
	for i := range found {
		found[i].used = order[found[i].decl.Name]
	}
}

// choose returns those candidates that are deferred, in the order of their declarations. They are deferred
// in steps until the declarations are within the limit: first all MCP tools of which no use is known, then
// the other MCP tools, one by one, the least recently used first; then the tools of skills in the same
// way. Size is that of all declarations, and own that of the tools that are added.
//
// Tools without a known use are deferred together. We cannot tell which of them will be needed, so any choice
// between them would be arbitrary.
//
// If that makes the declarations no smaller, nothing is deferred.
func choose(found []candidate, size, own, limit int) []entry {
	order := make([]int, len(found))
	for i := range found {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(found[a].category.step()-found[b].category.step(), found[a].used-found[b].used)
	})
	out := make([]bool, len(found))
	rest := size + own
	for n, i := range order {
		together := n > 0 && found[i].used == 0 && found[i].category == found[order[n-1]].category
		if rest <= limit && !together {
			break
		}
		out[i] = true
		rest -= found[i].size
	}
	if rest >= size {
		return nil
	}
	var deferred []entry
	for i, chosen := range out {
		if chosen {
			deferred = append(deferred, found[i].entry)
		}
	}
	return deferred
}

// step is the order of the categories.
func (c Category) step() int {
	if c == MCP {
		return 0
	}
	return 1
}
