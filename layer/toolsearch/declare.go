package toolsearch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// The names of the two tools that take the place of deferred declarations.
const (
	SearchToolName = "tool_search"
	CallToolName   = "tool_call"
)

// deferredNote begins the description of tool_search.
const deferredNote = "[%d tools deferred to save context. Use " + SearchToolName + " to find them.]"

// The rest of the description, in each mode.
const (
	searchPurpose = "\n\nFinds tools that are not declared. Describe in a few words what you need to do, or give the name of a tool." +
		" The result has the name, the description and the parameters of each tool found. "
	bridgePurpose  = "Call it with " + CallToolName + "."
	promotePurpose = "From then on it is declared, and can be called like any other tool."
	namesIntro     = "\n\nThe deferred tools are: "
)

// ourTools are the two tools, and how their declarations are put together.
type ourTools struct {
	mode     Mode
	maxNames int // estimated tokens, Off for none
	size     int // of both declarations without names, in estimated tokens
}

// newOurTools returns the tools of a config with its defaults.
func newOurTools(c *Config) ourTools {
	o := ourTools{mode: c.Mode, maxNames: c.MaxNamesTokens}
	o.size = promptsize.OfDeclaration(newSearchTool(nil, o.describe(nil, 999, 0), 1).Declaration())
	if c.Mode == Bridge {
		o.size += promptsize.OfDeclaration(newCallTool(nil, nil).Declaration())
	}
	return o
}

// namesFor is the most that a list of names may take up in declarations with that limit: a quarter of it,
// so that in a small window the names are not what fills the limit.
func (o *ourTools) namesFor(limit int) int {
	return min(o.maxNames, limit/4)
}

// most is the size of the declarations of the two tools if all of the candidates are deferred.
func (o *ourTools) most(found []candidate, limit int) int {
	names := 0
	for i := range found {
		names += ofName(found[i].decl.Name)
	}
	return o.size + max(0, min(names, o.namesFor(limit)))
}

// describe returns the description of tool_search for deferred tools.
func (o *ourTools) describe(deferred []entry, n, limit int) string {
	purpose := bridgePurpose
	if o.mode == Promote {
		purpose = promotePurpose
	}
	text := fmt.Sprintf(deferredNote, n) + searchPurpose + purpose
	if names := listNames(deferred, o.namesFor(limit)); names != "" {
		text += namesIntro + names
	}
	return text
}

// listNames lists the names of tools in order, and counts those that do not fit.
func listNames(deferred []entry, most int) string {
	var names []string
	for _, e := range deferred {
		if !isName(e.decl.Name) {
			continue
		}
		if most -= ofName(e.decl.Name); most < 0 {
			break
		}
		names = append(names, e.decl.Name)
	}
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names, ", ")
	if more := len(deferred) - len(names); more > 0 {
		return fmt.Sprintf("%s and %d more.", list, more)
	}
	return list + "."
}

// ofName is the size of a name in a list.
func ofName(name string) int { return tokens.Estimate(name) + 1 }

// maxNameBytes is the length of the longest name that a provider accepts.
const maxNameBytes = 128

// isName reports whether a text is a name that a provider accepts for a function. A server may give its tools
// any name, and no name may pass for a sentence of the description.
func isName(name string) bool {
	return name != "" && len(name) <= maxNameBytes && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.:", r)
	})
}

// declare takes the declarations of deferred tools away, and adds those of more in the place of the last
// function. It writes into nothing that the request shares with others: see the copies.
func declare(req *model.LLMRequest, deferred []entry, more []*genai.FunctionDeclaration) {
	gone := make(map[*genai.FunctionDeclaration]bool, len(deferred))
	for _, e := range deferred {
		gone[e.decl] = true
	}
	var functions *genai.Tool
	tools := make([]*genai.Tool, 0, len(req.Config.Tools))
	for _, t := range req.Config.Tools {
		if t == nil || len(t.FunctionDeclarations) == 0 {
			tools = append(tools, t)
			continue
		}
		copied := *t
		copied.FunctionDeclarations = make([]*genai.FunctionDeclaration, 0, len(t.FunctionDeclarations)+len(more))
		for _, d := range t.FunctionDeclarations {
			if !gone[d] {
				copied.FunctionDeclarations = append(copied.FunctionDeclarations, d)
			}
		}
		if functions == nil {
			functions = &copied
		}
		tools = append(tools, &copied)
	}
	functions.FunctionDeclarations = append(functions.FunctionDeclarations, more...)
	tools = slices.DeleteFunc(tools, declaresNothing)
	config := *req.Config
	config.Tools = tools
	req.Config = &config
}

// declaresNothing reports whether a tool has lost its last declaration, and is nothing else.
func declaresNothing(t *genai.Tool) bool {
	if t == nil || t.FunctionDeclarations == nil || len(t.FunctionDeclarations) > 0 {
		return false
	}
	rest := *t
	rest.FunctionDeclarations = nil
	return reflect.ValueOf(rest).IsZero()
}
