package toolsearch

import (
	"google.golang.org/genai"
)

// promoted returns the deferred tools that the contents of a request have found or called, in the order in
// which they did so first. A tool that was promoted thereby stays in its place for as long as the contents
// show why, which is until a summary takes the place of these contents.
func promoted(contents []*genai.Content, deferred []entry) []entry {
	byName := make(map[string]entry, len(deferred))
	for _, e := range deferred {
		byName[e.decl.Name] = e
	}
	var found []entry
	promote := func(name string) {
		if e, ok := byName[name]; ok {
			found = append(found, e)
			delete(byName, name)
		}
	}
	for _, c := range contents {
		if c == nil {
			continue
		}
		for _, p := range c.Parts {
			switch {
			case p == nil:
			case p.FunctionCall != nil:
				promote(p.FunctionCall.Name)
			case p.FunctionResponse != nil && p.FunctionResponse.Name == SearchToolName:
				for _, name := range foundNames(p.FunctionResponse.Response) {
					promote(name)
				}
			}
		}
	}
	return found
}

// foundNames returns the names in a result of tool_search, the best first.
func foundNames(response map[string]any) []string {
	tools, _ := response[toolsKey].([]any)
	var names []string
	for _, t := range tools {
		if t, ok := t.(map[string]any); ok {
			if name, ok := t[nameKey].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names
}
