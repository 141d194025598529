package longsession_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/geminitool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// memo is a tool of the app's own, which answers with as much text.
func memo(t *testing.T, name string, answer int) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "Reads the memo of the shop."}, func(agent.ToolContext, struct {
		Query string `json:"query"`
	}) (map[string]any, error) {
		return map[string]any{"memo": strings.Repeat("Nails are in the box on the left.\n", answer/34)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const offer = "Earlier messages can be searched with the tool recall."

// offers is what a request says of recall.
type offers struct {
	agent             string
	summary, sentence bool
	tools             []string // "recall" or "recall_turn", of the app's own with "own " in front
}

func offersOf(ctx context.Context, req *model.LLMRequest) (o offers) {
	if ic, ok := ctx.(agent.InvocationContext); ok {
		o.agent = ic.Agent().Name()
	}
	for _, c := range req.Contents {
		o.summary = o.summary || promptsize.IsSummary(c)
		for _, p := range c.Parts {
			o.sentence = o.sentence || strings.Contains(p.Text, offer)
		}
	}
	for _, of := range req.Config.Tools {
		for _, d := range of.FunctionDeclarations {
			switch own := strings.Contains(d.Description, "memo of the shop"); {
			case d.Name != recall.ToolName && d.Name != recall.TurnToolName:
			case own:
				o.tools = append(o.tools, "own "+d.Name)
			default:
				o.tools = append(o.tools, d.Name)
			}
		}
	}
	return o
}

// shelf is a set of tools as an MCP server has it.
type shelf []tool.Tool

func (shelf) Name() string                                       { return "shelf" }
func (s shelf) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return s, nil }

// listening is a model that keeps what each request says of recall.
type listening struct {
	model.LLM
	heard []offers
}

func (l *listening) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	l.heard = append(l.heard, offersOf(ctx, req))
	return l.LLM.GenerateContent(ctx, req, stream)
}

// asks has the user say as many messages to an app.
func asks(t *testing.T, app runner.Config, messages int) {
	t.Helper()
	r, err := runner.New(app)
	if err != nil {
		t.Fatal(err)
	}
	for n := range messages {
		for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText(fmt.Sprint("Question ", n), genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// An app may take the session service alone from the stack, and give its agents neither a plugin nor a model of it. They
// cannot call recall then, so no summary names it.
func TestNoSummaryNamesRecallOverTheSessionServiceAlone(t *testing.T) {
	t.Parallel()
	for _, with := range []string{"the service alone", "the model", "the plugins"} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			l := &listening{LLM: speaker("m")}
			stack := newStack(t, small(l))
			cfg := llmagent.Config{Name: "desk", Model: l}
			app := runner.Config{AppName: desk.AppName, SessionService: stack.Sessions, AutoCreateSession: true}
			switch with {
			case "the model":
				cfg.Model = stack.Model(l)
			case "the plugins":
				app.PluginConfig = stack.PluginConfig()
			}
			a, err := llmagent.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			app.Agent = a
			asks(t, app, 9)
			if last := l.heard[len(l.heard)-1]; !last.summary {
				t.Fatal("nothing was summarized, so the test proves nothing")
			}
			for n, got := range l.heard {
				if declared := len(got.tools) == 2; got.sentence != declared || got.sentence && with == "the service alone" || got.summary && !got.sentence && with != "the service alone" {
					t.Errorf("request %d: %+v", n, got)
				}
			}
		})
	}
}

// An app may have a tool named recall or recall_turn. It keeps that tool, with and without plugins, as it is without the
// stack. The stack then declares neither of its own tools, no summary names one, and the log says so once.
func TestAToolOfTheAppsNamedRecallStaysItsOwn(t *testing.T) {
	t.Parallel()
	byHand := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: recall.ToolName, Description: "Reads the memo of the shop."}}}}}
	var many shelf
	for i := range 200 {
		many = append(many, memo(t, fmt.Sprint("look_", i), 100))
	}
	for name, row := range map[string]struct {
		cfg  llmagent.Config
		want []string
		ours bool // ours are offered all the same
	}{
		"recall":                     {cfg: llmagent.Config{Tools: []tool.Tool{memo(t, recall.ToolName, 100)}}, want: []string{"own recall"}},
		"recall_turn":                {cfg: llmagent.Config{Tools: []tool.Tool{memo(t, recall.TurnToolName, 100)}}, want: []string{"own recall_turn"}},
		"declared by hand":           {cfg: llmagent.Config{GenerateContentConfig: byHand}, want: []string{"own recall"}},
		"found by the search alone":  {cfg: llmagent.Config{Toolsets: []tool.Toolset{toolsearch.Group(toolsearch.MCP, append(many, memo(t, recall.ToolName, 100)))}}, want: nil},
		"of another name altogether": {cfg: llmagent.Config{Tools: []tool.Tool{memo(t, "recall_memo", 100)}}, want: []string{recall.ToolName, recall.TurnToolName}, ours: true},
	} {
		for _, plugins := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, plugins %v", name, plugins), func(t *testing.T) {
				t.Parallel()
				var log bytes.Buffer
				l := &listening{LLM: speaker("m")}
				cfg := small(l)
				cfg.Compaction.ContextWindow, cfg.ToolSearch.Threshold = 100_000, 0.01
				cfg.Compaction.Logger = slog.New(slog.NewTextHandler(&log, nil))
				stack := newStack(t, cfg)
				of := row.cfg
				of.Name, of.Model = "desk", stack.Model(l)
				root, err := llmagent.New(of)
				if err != nil {
					t.Fatal(err)
				}
				on := runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, AutoCreateSession: true}
				if plugins {
					on.PluginConfig = stack.PluginConfig()
				}
				asks(t, on, 9)
				summaries := 0
				for i, o := range l.heard {
					if o.summary {
						summaries++
					}
					want := row.want
					if row.ours && !o.summary {
						want = nil
					}
					if !slices.Equal(o.tools, want) || o.sentence != (row.ours && o.summary) {
						t.Errorf("request %d: %+v, want tools %v", i, o, want)
					}
				}
				if summaries == 0 {
					t.Error("nothing was summarized")
				}
				want := 1
				if row.ours {
					want = 0
				}
				if told := strings.Count(log.String(), "an agent keeps its own tool of that name"); told != want {
					t.Errorf("the log says so %d times, want %d:\n%s", told, want, log.String())
				}
			})
		}
	}
}

// A summary tells an agent of recall only if that agent can call it. Four agents share a session here. Three of them cannot
// call it: the first answers in JSON, the second uses Google Search, which the model does not combine with functions, and the
// third has a tool of its own named recall. The fourth can.
func TestASummaryNamesRecallOnlyToWhoCanCallIt(t *testing.T) {
	t.Parallel()
	said := 0
	l := &listening{LLM: compactiontest.NewModel("m", func(n int, req *model.LLMRequest) *model.LLMResponse {
		last := req.Contents[len(req.Contents)-1].Parts[0]
		if to, ok := strings.CutPrefix(last.Text, "To "); ok {
			return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": to})
		}
		said++
		return compactiontest.Say(fmt.Sprintf(`{"answer":"%d. %s"}`, n, strings.Repeat("It is a long story. ", 30)))
	})}
	stack := newStack(t, small(l))
	llm := stack.Model(l)
	make := func(cfg llmagent.Config) agent.Agent {
		cfg.Model, cfg.Description = llm, "Answers."
		made, err := llmagent.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	schema := &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"answer": {Type: genai.TypeString}}}
	root := make(llmagent.Config{Name: "desk", SubAgents: []agent.Agent{
		make(llmagent.Config{Name: "form", OutputSchema: schema, DisallowTransferToParent: true, DisallowTransferToPeers: true}),
		make(llmagent.Config{Name: "web", Tools: []tool.Tool{geminitool.GoogleSearch{}}, DisallowTransferToParent: true, DisallowTransferToPeers: true}),
		make(llmagent.Config{Name: "memos", Tools: []tool.Tool{memo(t, recall.ToolName, 100)}, DisallowTransferToParent: true, DisallowTransferToPeers: true}),
	}})
	r, err := runner.New(runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 24 {
		text := fmt.Sprint("Question ", n)
		if to := map[int]string{10: "form", 14: "web", 18: "memos"}[n]; to != "" {
			text = "To " + to
		}
		for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	summaries := map[string]int{}
	for i, o := range l.heard {
		if o.summary {
			summaries[o.agent]++
		}
		can := o.agent == "desk" && o.summary
		if o.sentence != can || slices.Contains(o.tools, recall.ToolName) != can {
			t.Errorf("request %d: %+v", i, o)
		}
	}
	for _, name := range []string{"desk", "form", "web", "memos"} {
		if summaries[name] == 0 {
			t.Errorf("%s has seen no summary: %v", name, summaries)
		}
	}
}

// The result of such a tool is shortened like any other, and can be read whole: only what our recall returns has a bound.
func TestAResultOfTheAppsOwnRecallIsShortened(t *testing.T) {
	t.Parallel()
	for _, name := range []string{recall.ToolName, recall.TurnToolName, "memo"} {
		shown := ""
		w := compactiontest.NewModel("m", func(_ int, req *model.LLMRequest) *model.LLMResponse {
			last := req.Contents[len(req.Contents)-1].Parts[0]
			if last.FunctionResponse == nil {
				return compactiontest.CallTool(name, map[string]any{"query": "nails"})
			}
			shown = fmt.Sprint(last.FunctionResponse.Response)
			return compactiontest.Say("Noted.")
		})
		if err := ask(t, newStack(t, small(w)), w, memo(t, name, 40_000)); err != nil {
			t.Fatal(err)
		}
		if len(shown) > 5_000 || !strings.Contains(shown, "ref_id") {
			t.Errorf("%s: the model is shown %d bytes: %.200q", name, len(shown), shown)
		}
	}
}
