package toolsearch

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
)

// searchTool is the tool tool_search over one list of deferred tools. The index is built at the first
// search: most requests never search. It may be used by any number of goroutines.
type searchTool struct {
	entries     []entry
	maxHits     int
	declaration *genai.FunctionDeclaration
	index       func() *index
	// observe is called after each search. It may be nil.
	observe func(ctx context.Context, query string, hits []string)
	// before are the tools of the request in which the plugin has put this one, as they were. If nil, the
	// plugin has not.
	before []*genai.Tool
}

var _ tool.Tool = (*searchTool)(nil)

// queryKey is the argument of tool_search.
const queryKey = "query"

// newSearchTool returns the tool that finds entries. description is what the model reads of it, and maxHits
// is how many tools one search returns. The entries must not change afterwards.
func newSearchTool(entries []entry, description string, maxHits int) *searchTool {
	return &searchTool{
		entries: entries,
		maxHits: maxHits,
		declaration: &genai.FunctionDeclaration{
			Name:        SearchToolName,
			Description: description,
			Parameters: &genai.Schema{
				Type: genai.TypeObject,
				Properties: map[string]*genai.Schema{queryKey: {
					Type: genai.TypeString,
					Description: "What the tool should do, in a few English words, or a part of its name, or of the name of a parameter. " +
						"select:name_a,name_b returns tools by their exact names.",
				}},
				Required: []string{queryKey},
			},
		},
		index: sync.OnceValue(func() *index { return newIndex(entries) }),
	}
}

// Name implements tool.Tool.
func (*searchTool) Name() string { return SearchToolName }

// Description implements tool.Tool.
func (t *searchTool) Description() string { return t.declaration.Description }

// IsLongRunning implements tool.Tool.
func (*searchTool) IsLongRunning() bool { return false }

// Declaration returns the same declaration each time.
func (t *searchTool) Declaration() *genai.FunctionDeclaration { return t.declaration }

// ProcessRequest puts the tool into a request that can take it.
func (t *searchTool) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	adk.Declare(req, t)
	return nil
}

// Run answers a search. It returns no error: whatever the query is, the model can go on with the answer.
func (t *searchTool) Run(ctx agent.ToolContext, args any) (result map[string]any, err error) {
	defer survive.Else("toolsearch: a search", func() {
		result, err = map[string]any{toolsKey: []any{}, noteKey: "The search has failed. Search for something else, or call a tool by its name."}, nil
	}) // an encoder of a schema
	query := queryOf(args)
	f := t.find(query)
	if t.observe != nil {
		t.observe(contextOf(ctx), query, f.names())
	}
	return f.response(), nil
}

// contextOf returns the context of a call, which tests and other frameworks may leave out.
func contextOf(ctx agent.ToolContext) context.Context {
	if adk.IsNil(ctx) {
		return context.Background()
	}
	return ctx
}

// find returns the answer to a query.
func (t *searchTool) find(query string) *found {
	ix := t.index()
	if names, ok := selectedNames(query); ok {
		return ix.selected(names)
	}
	a := &found{}
	if strings.TrimSpace(query) == "" {
		a.note("Say in query what the tool should do, or give a part of its name, or select:name_a,name_b.")
		return a
	}
	hits := ix.search(query, t.maxHits)
	for _, h := range hits {
		a.add(ix.entries[h.entry])
	}
	if len(hits) == 0 {
		a.note("No tool matches. Search in English, or with other words." + nearestNote(ix.nearest(query)))
	}
	return a
}

// queryOf returns the query of a call. Models write a list of words, too, or a number.
func queryOf(args any) string {
	values, _ := args.(map[string]any)
	switch query := values[queryKey].(type) {
	case nil:
		return ""
	case string:
		return query
	case []any:
		words := make([]string, 0, min(len(query), maxQueryTerms))
		for _, word := range query[:min(len(query), maxQueryTerms)] {
			if text, ok := word.(string); ok {
				words = append(words, text)
			}
		}
		return strings.Join(words, " ")
	case map[string]any:
		return ""
	default:
		return fmt.Sprint(query)
	}
}
