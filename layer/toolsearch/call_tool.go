package toolsearch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/unknowntool"
)

// The arguments of tool_call.
const (
	nameKey      = "name"
	argumentsKey = "arguments"
)

// callTool is tool_call in one request. The model calls tools through it that are not declared. Calls that
// are right never reach it: [Deferral.Translate] replaces them with calls of the tools themselves. So its
// only answer is what is wrong with a call.
type callTool struct {
	deferred []entry
	tools    map[string]any // as ADK dispatches them in this request
}

var _ tool.Tool = (*callTool)(nil)

// newCallTool returns tool_call for one request: tools are those of the request, deferred those of them that
// are not declared.
func newCallTool(deferred []entry, tools map[string]any) *callTool {
	return &callTool{deferred: deferred, tools: tools}
}

// callDeclaration is the same in every request, in every process.
var callDeclaration = &genai.FunctionDeclaration{
	Name: CallToolName,
	Description: "Calls a tool that " + SearchToolName + " has found, and returns its result. Search first: the arguments must fit the" +
		" parameters that the search returns. Call tools that are declared here directly instead.",
	Parameters: &genai.Schema{
		Type: genai.TypeObject,
		Properties: map[string]*genai.Schema{
			nameKey:      {Type: genai.TypeString, Description: "The name of the tool, as " + SearchToolName + " returns it."},
			argumentsKey: {Type: genai.TypeObject, Description: "The arguments of the tool, as an object that fits its parameters."},
		},
		PropertyOrdering: []string{nameKey, argumentsKey},
		Required:         []string{nameKey, argumentsKey},
	},
}

// Name implements tool.Tool.
func (*callTool) Name() string { return CallToolName }

// Description implements tool.Tool.
func (*callTool) Description() string { return callDeclaration.Description }

// IsLongRunning implements tool.Tool.
func (*callTool) IsLongRunning() bool { return false }

// Declaration returns the same pointer every time.
func (*callTool) Declaration() *genai.FunctionDeclaration { return callDeclaration }

// ProcessRequest does nothing: tool_call is in the requests that need it.
func (*callTool) ProcessRequest(agent.ToolContext, *model.LLMRequest) error { return nil }

// Run answers a call that could not be translated. It returns no error: the model can act on the answer.
func (t *callTool) Run(_ agent.ToolContext, args any) (map[string]any, error) {
	given, _ := args.(map[string]any)
	c, wrong := t.resolve(given)
	if wrong == nil {
		// The call is right, and has not passed through the wrapper: somebody has put it into a response
		// after the model. The tool does not run from here, because callbacks that watch over it, and its
		// confirmation, would not see its name.
		wrong = &refusal{text: fmt.Sprintf("Call %s directly, by its own name.", short(c.name)), schema: c.schema}
	}
	return wrong.response(), nil
}

// resolved is what a call of tool_call means.
type resolved struct {
	name   string
	args   map[string]any
	schema map[string]any // of the arguments, nil if there is none
}

// refusal is why a call of tool_call does not run.
type refusal struct {
	text   string
	schema map[string]any // to quote, nil for none
}

// maxQuoted is the largest schema that an error quotes, in bytes. Beyond it, the model is told to search.
const maxQuoted = 16 << 10

// response returns a refusal as the model sees it.
func (r *refusal) response() map[string]any {
	out := map[string]any{"error": r.text}
	if len(r.schema) == 0 {
		return out
	}
	if data, err := json.Marshal(r.schema); err == nil && len(data) <= maxQuoted {
		out["parameters"] = r.schema
	} else {
		out["error"] = r.text + " See its parameters with " + SearchToolName + "."
	}
	return out
}

// resolve returns the call that a model means by the arguments of tool_call.
func (t *callTool) resolve(given map[string]any) (resolved, *refusal) {
	name, _ := given[nameKey].(string)
	switch {
	case name == "":
		return resolved{}, &refusal{text: fmt.Sprintf("Give the name of the tool as %q and its arguments as %q, an object.", nameKey, argumentsKey)}
	case name == CallToolName || name == SearchToolName:
		return resolved{}, &refusal{text: "Call " + name + " directly, not through " + CallToolName + "."}
	}
	declarer := t.lookUp(name)
	if declarer == nil {
		return resolved{}, &refusal{text: unknowntool.Text(name, t.names())}
	}
	c := resolved{name: name, schema: schemaOf(declarer)}
	args, fault := argumentsIn(given)
	if fault != "" {
		return resolved{}, &refusal{text: fmt.Sprintf(fault, short(name)), schema: c.schema}
	}
	if wrong := validate(c.schema, args); wrong != nil {
		detail := first(strings.ReplaceAll(wrong.Error(), "\n", "; "), 1_000)
		return resolved{}, &refusal{text: fmt.Sprintf("The arguments do not fit the parameters of %s: %s.", short(name), detail), schema: c.schema}
	}
	c.args = args
	return c, nil
}

// argumentsIn returns the arguments in a call of tool_call: the object under "arguments", also if it is
// written as a text, or, if there is none, what stands next to the name. Otherwise it returns what is wrong,
// with a place for the name of the tool.
func argumentsIn(given map[string]any) (args map[string]any, fault string) {
	nested := given[argumentsKey]
	if text, isText := nested.(string); isText {
		var decoded map[string]any
		if strings.TrimSpace(text) == "" {
			nested = nil
		} else if json.Unmarshal([]byte(text), &decoded) == nil && decoded != nil {
			nested = decoded
		}
	}
	beside := len(given) - 1
	if _, has := given[argumentsKey]; has {
		beside--
	}
	switch args := nested.(type) {
	case nil:
		out := maps.Clone(given)
		delete(out, nameKey)
		delete(out, argumentsKey)
		return out, ""
	case map[string]any:
		if beside > 0 {
			return nil, "Put all arguments of %s into \"" + argumentsKey + "\", not next to it."
		}
		if args == nil {
			args = map[string]any{}
		}
		return args, ""
	}
	return nil, "The arguments of %s must be an object."
}

// lookUp returns the tool that ADK would run for a name, nil if there is none. Names by which ADK asks the
// user for something are not tools.
func (t *callTool) lookUp(name string) declarer {
	found, isTool := t.tools[name].(tool.Tool)
	if !isTool || strings.HasPrefix(name, requestPrefix) {
		return nil
	}
	switch callable := found.(type) {
	case runnable:
		return callable
	case streaming:
		return callable
	}
	return nil
}

// requestPrefix begins the names of ADK's requests to the user.
const requestPrefix = "adk_request_"

// names returns the names of all tools that can be called in the request, sorted.
func (t *callTool) names() []string {
	names := []string{CallToolName, SearchToolName}
	for name := range t.tools {
		if name != CallToolName && name != SearchToolName && t.lookUp(name) != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// schemaOf returns the parameters that a tool declares now, nil if there are none that can be read.
func schemaOf(d declarer) (schema map[string]any) {
	defer survive.Else("toolsearch: the declaration of a tool", func() { schema = nil }) // the tool is the app's
	schema, _ = parametersOf(d.Declaration())
	return schema
}

// short quotes a name that a model or a tool has chosen.
func short(name string) string { return strconv.Quote(first(name, 64)) }

// first returns the first runes of a text.
func first(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}
