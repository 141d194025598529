package docs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/summarizer"
)

// offered is what the layers declare in a request, and what that takes up.
type offered struct {
	names  []string
	tokens int
}

func offeredIn(req *model.LLMRequest) (o offered) {
	ours := []string{toolresult.ReadResultName, recall.ToolName, recall.TurnToolName, toolsearch.SearchToolName, toolsearch.CallToolName, contexttool.CompactContextName, contexttool.MarkTaskDoneName}
	for _, of := range req.Config.Tools {
		for _, d := range of.FunctionDeclarations {
			if slices.Contains(ours, d.Name) {
				o.names, o.tokens = append(o.names, d.Name), o.tokens+promptsize.OfDeclaration(d)
			}
		}
	}
	return o
}

// server is a set of tools as an MCP server has it.
type server []tool.Tool

func (server) Name() string                                       { return "server" }
func (s server) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return s, nil }

// What the layers declare follows from the situation, and costs what economics.md says.
func TestTheLayersDeclareWhatEconomicsSays(t *testing.T) {
	t.Parallel()
	type lookUp struct {
		Query string `json:"query" jsonschema:"What to look for, in the words of the customer."`
	}
	looks := func(name string) tool.Tool {
		made, err := functiontool.New(functiontool.Config{Name: name, Description: "Looks up what the warehouse has of an article, with its price and its place."},
			func(agent.ToolContext, lookUp) (map[string]any, error) {
				return map[string]any{"found": strings.Repeat("a box of nails\n", 800)}, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	var shelf server
	for i := range 200 {
		shelf = append(shelf, looks(fmt.Sprintf("look_up_%03d", i)))
	}
	inner := session.InMemoryService()
	// play has an agent answer some messages, and returns what each request declared: before something is shown
	// shortened or summarized, and behind.
	play := func(id string, turns int, summarize bool, asked contexttool.Config, tools []tool.Tool, sets ...tool.Toolset) (none, stub, summary []offered) {
		t.Helper()
		cfg := longsession.Config{
			Model: compactiontest.NewModel("m", nil), ContextTools: asked,
			Compaction: compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 100_000, InvocationThreshold: compaction.Off, MaxLedgerTokens: compaction.Off, Synchronous: true},
		}
		if summarize {
			cfg.Compaction.InvocationThreshold, cfg.Compaction.RetainEvents = 3, 2
		}
		stack, err := longsession.New(inner, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stack.Close(t.Context()) }()
		llm := stack.Model(compactiontest.NewModel("m", func(_ int, req *model.LLMRequest) *model.LLMResponse {
			contents, err := json.Marshal(req.Contents)
			if err != nil {
				t.Error(err)
			}
			into := &none
			if slices.ContainsFunc(req.Contents, promptsize.IsSummary) {
				into = &summary
			} else if strings.Contains(string(contents), "ref_id") {
				into = &stub
			}
			*into = append(*into, offeredIn(req))
			if _, can := req.Tools["look_up"]; can && req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse == nil {
				return compactiontest.CallTool("look_up", map[string]any{"query": "nails"})
			}
			return compactiontest.Say(strings.Repeat("There are many nails. ", 40))
		}))
		root, err := llmagent.New(llmagent.Config{Name: "desk", Model: llm, Tools: tools, Toolsets: sets})
		if err != nil {
			t.Fatal(err)
		}
		r, err := runner.New(runner.Config{AppName: "docs", Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true})
		if err != nil {
			t.Fatal(err)
		}
		for range turns {
			for _, err := range r.Run(t.Context(), "u", id, genai.NewContentFromText("What is there?", genai.RoleUser), agent.RunConfig{}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		return none, stub, summary
	}
	// of checks that all requests of a situation declare the same, and returns its size.
	of := func(situation string, requests []offered, names ...string) int {
		t.Helper()
		if len(requests) == 0 {
			t.Fatalf("%s: no request", situation)
		}
		for i, got := range requests {
			if !slices.Equal(got.names, names) || got.tokens != requests[0].tokens {
				t.Errorf("%s, request %d: the layers declare %v, %d tokens; want %v, %d tokens", situation, i, got.names, got.tokens, names, requests[0].tokens)
			}
		}
		return requests[0].tokens
	}
	const read, search, turn = toolresult.ReadResultName, recall.ToolName, recall.TurnToolName
	chat, _, summarized := play("chat", 9, true, contexttool.Config{}, nil)
	whole, stub, _ := play("tools", 3, false, contexttool.Config{}, []tool.Tool{looks("look_up")})
	_, shown, _ := play("tools", 2, false, contexttool.Config{}, nil) // of another agent, or before its tools were taken away
	_, _, both := play("both", 9, true, contexttool.Config{}, []tool.Tool{looks("look_up")})
	deferred, _, _ := play("deferred", 2, false, contexttool.Config{}, nil, toolsearch.Group(toolsearch.MCP, shelf))
	tended, _, _ := play("tended", 2, false, contexttool.Config{Enabled: true}, nil)
	if free := of("no tools", chat); free != 0 {
		t.Errorf("a chat without tools declares %d tokens", free)
	}
	reads := of("tools, nothing shortened", whole, read)
	if got := of("tools, a stub", stub, read); got != reads {
		t.Errorf("read_result has %d tokens before the first stub, and %d behind", reads, got)
	}
	testkit.Figures(t, "economics.md", "| nothing of all that | none | %d |\n"+
		"| the agent has tools of its own, whether a result is shortened or not | `read_result` | %d |\n"+
		"| it has no tools, and the request shows something shortened | `read_result` | %d |\n"+
		"| the request shows a summary, unless `Recall` is disabled | `recall`, `recall_turn` | %d |\n"+
		"| the same, and the agent has tools | `read_result`, `recall`, `recall_turn` | %d |\n"+
		"| 200 tools of an MCP server, whose declarations are deferred | `read_result`, `tool_search`, `tool_call` | %d |\n"+
		"| `ContextTools` is on | `compact_context`, `mark_task_done` | %d |",
		0, reads, of("no tools, something shortened", shown, read), of("no tools, a summary", summarized, search, turn), of("tools and a summary", both, read, search, turn),
		of("deferred", deferred, read, toolsearch.SearchToolName, toolsearch.CallToolName), of("context tools", tended, contexttool.MarkTaskDoneName, contexttool.CompactContextName))
}
