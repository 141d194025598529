package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// deferred returns what wraps the model of an app whose tools are searched for.
func deferred(t *testing.T, mode toolsearch.Mode) func(model.LLM) model.LLM {
	t.Helper()
	d, err := toolsearch.New(toolsearch.Config{Mode: mode, ContextWindow: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Flush(t.Context()) })
	return d.Model
}

func search(query string) step {
	return calls(toolsearch.SearchToolName, map[string]any{"query": query})
}

// through calls a tool through tool_call.
func through(name string, args map[string]any) step {
	return calls(toolsearch.CallToolName, map[string]any{"name": name, "arguments": args})
}

// call calls a tool as the mode wants it.
func call(mode toolsearch.Mode, name string, args map[string]any) step {
	if mode == toolsearch.Promote {
		return calls(name, args)
	}
	return through(name, args)
}

var issue = map[string]any{"owner": "o", "repo": "r", "title": "Broken"}

// prefixBreaks returns how many requests do not extend the one before.
func prefixBreaks(seen []*model.LLMRequest) int {
	breaks, before := 0, ""
	for _, req := range seen {
		var whole strings.Builder
		for _, part := range []any{req.Config.Tools, req.Config.SystemInstruction} {
			data, _ := json.Marshal(part)
			whole.Write(data)
		}
		for _, content := range req.Contents {
			data, _ := json.Marshal(content)
			whole.Write(data)
		}
		if !strings.HasPrefix(whole.String(), before) {
			breaks++
		}
		before = whole.String()
	}
	return breaks
}

func TestAToolOfAServerRunsInTheStepAfterItsSearch(t *testing.T) {
	t.Parallel()
	for _, mode := range []toolsearch.Mode{toolsearch.Bridge, toolsearch.Promote} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			g, _ := group(t, newServer(t, plan{}).toolset(), time.Minute)
			a := newApp(t, deferred(t, mode), g)
			got := a.turn(search("create an issue on github"), call(mode, known, issue))
			if len(got) != 2 || got[1].Name != known || !contains(got[1], "ran "+known) {
				t.Errorf("the tools returned %+v", got)
			}
			if names := declared(a.model.seen[0]); len(names) > 2 || !slices.Contains(names, toolsearch.SearchToolName) {
				t.Errorf("the first request declares %v", names)
			}
			// Started again, on a server of its own, the app knows what was found.
			other, _ := group(t, newServer(t, plan{}).toolset(), time.Minute)
			a.start(deferred(t, mode), other)
			if got = a.turn(call(mode, known, issue)); len(got) != 1 || !contains(got[0], "ran "+known) {
				t.Errorf("after a restart: %+v", got)
			}
			if breaks := prefixBreaks(a.model.seen); mode == toolsearch.Bridge && breaks > 0 {
				t.Errorf("%d requests break the prefix", breaks)
			}
		})
	}
}

func TestADeferredToolRunsByItsOwnName(t *testing.T) {
	t.Parallel()
	g, _ := group(t, newServer(t, plan{}).toolset(), time.Minute)
	a := newApp(t, deferred(t, toolsearch.Bridge), g)
	if got := a.turn(calls(known, issue)); !contains(got[0], "ran "+known) {
		t.Errorf("the tool returned %+v", got)
	}
}

// The tool is behind a confirmation, and the app is started again before the user answers.
func TestAFoundToolRunsAfterItsConfirmation(t *testing.T) {
	t.Parallel()
	for _, mode := range []toolsearch.Mode{toolsearch.Bridge, toolsearch.Promote} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			always := func(string, any) bool { return true }
			g, _ := group(t, newServer(t, plan{}).confirmed(always), time.Minute)
			a := newApp(t, deferred(t, mode), g)
			events, err := a.run(genai.NewContentFromText("Please.", genai.RoleUser), search("create an issue on github"), call(mode, known, issue))
			if err != nil {
				t.Fatal(err)
			}
			var asked *genai.FunctionCall
			for _, ev := range events {
				for _, c := range requests.Calls(ev.Content) {
					if c.Name == toolconfirmation.FunctionCallName {
						asked = c
					}
				}
			}
			if asked == nil {
				t.Fatal("the user is not asked")
			}
			other, _ := group(t, newServer(t, plan{}).confirmed(always), time.Minute)
			a.start(deferred(t, mode), other)
			answer := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: asked.ID, Name: asked.Name, Response: map[string]any{"confirmed": true},
			}}}}
			events, err = a.run(answer)
			if err != nil {
				t.Fatal(err)
			}
			got := responses(events)
			if len(got) != 1 || got[0].Name != known || !contains(got[0], "ran "+known) {
				t.Errorf("after the approval: %+v", got)
			}
		})
	}
}

// short is how long an answer about a tool that is not there may be, in bytes: the error of ADK names all
// 200 tools.
const short = 1_000

func TestAToolThatVanishedIsAnsweredShortly(t *testing.T) {
	t.Parallel()
	s := newServer(t, plan{})
	g, _ := group(t, s.toolset(), time.Minute)
	a := newApp(t, deferred(t, toolsearch.Bridge), g)
	a.turn(search("create an issue on github"), through(known, issue))
	s.follow(plan{Without: []string{known}})
	got := a.turn(through(known, issue), search("select:"+known))
	if data, _ := json.Marshal(got[0].Response); got[0].Response["error"] == nil || len(data) > short || !strings.Contains(string(data), known) {
		t.Errorf("the model reads %s", data)
	}
	if data, _ := json.Marshal(got[1].Response); len(data) > short {
		t.Errorf("the search returns %s", data)
	}
	// Within a turn, the server answers that there is no such tool.
	s.follow(plan{})
	got = a.turn(through(known, issue), func(req *model.LLMRequest) *genai.Content {
		s.follow(plan{Without: []string{known}})
		return through(known, issue)(req)
	})
	if data, _ := json.Marshal(got[1].Response); !contains(got[0], "ran "+known) || got[1].Response["error"] == nil || len(data) > short {
		t.Errorf("the model reads %s", data)
	}
}

// versioned is a tool whose schema has one required property.
func versioned(property string) plan {
	return plan{More: []map[string]any{{"name": "archive_room", "description": "Archives a room.", "inputSchema": map[string]any{
		"type": "object", "properties": map[string]any{property: map[string]any{"type": "string"}}, "required": []any{property},
	}}}}
}

func TestArgumentsAreCheckedAgainstTheSchemaOfNow(t *testing.T) {
	t.Parallel()
	s := newServer(t, versioned("room"))
	g, _ := group(t, s.toolset(), time.Minute)
	a := newApp(t, deferred(t, toolsearch.Bridge), g)
	got := a.turn(search("archive a room"), through("archive_room", map[string]any{"room": "x"}))
	if !contains(got[1], "ran archive_room") {
		t.Fatalf("the tool returned %+v", got[1])
	}
	s.follow(versioned("room_id"))
	got = a.turn(through("archive_room", map[string]any{"room": "x"}), through("archive_room", map[string]any{"room_id": "x"}))
	if data, _ := json.Marshal(got[0].Response); got[0].Response["error"] == nil || !strings.Contains(string(data), "room_id") {
		t.Errorf("the model does not read the schema of now: %s", data)
	}
	if !contains(got[1], "ran archive_room") {
		t.Errorf("with the arguments of now: %+v", got[1])
	}
}

func TestARenamedToolIsFoundUnderItsNewName(t *testing.T) {
	t.Parallel()
	s := newServer(t, plan{})
	g, _ := group(t, s.toolset(), time.Minute)
	a := newApp(t, deferred(t, toolsearch.Bridge), g)
	a.turn(search("create an issue on github"), through(known, issue))
	s.follow(plan{Without: []string{known}, More: []map[string]any{{"name": "open_issue", "description": "Create a new issue in a GitHub repository.", "inputSchema": object()}}})
	got := a.turn(through(known, issue), search("create an issue in a github repository"), through("open_issue", nil))
	if got[0].Response["error"] == nil || !contains(got[1], "open_issue") || !contains(got[2], "ran open_issue") {
		t.Errorf("the tools returned %+v", got)
	}
}

// A server that goes away takes no tool along: the list, the index and the declarations stay as they are.
func TestAServerThatFailsChangesNothingInThePrompt(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"die", "hang", "error"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, plan{})
			g, _ := group(t, s.toolset(), soon)
			a := newApp(t, deferred(t, toolsearch.Bridge), g)
			a.until(toolsearch.SearchToolName)
			a.model.seen = nil
			a.turn(search("create an issue on github"))
			s.follow(plan{List: how, Call: how})
			got := a.turn(search("list pods"), through(known, issue))
			if !contains(got[0], "pods_list") || got[1].Response["error"] == nil {
				t.Errorf("the tools returned %+v", got)
			}
			if breaks := prefixBreaks(a.model.seen); breaks > 0 {
				t.Errorf("%d requests break the prefix", breaks)
			}
		})
	}
}

func TestAnOddListCanBeSearched(t *testing.T) {
	t.Parallel()
	without := func(names ...string) plan {
		return plan{More: slices.DeleteFunc(odd(), func(more map[string]any) bool { return slices.Contains(names, more["name"].(string)) })}
	}
	for name, p := range map[string]plan{
		"all":              without(),
		"no names of ours": without("tool_search", "tool_call"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, _ := group(t, newServer(t, p).toolset(), time.Minute)
			a := newApp(t, deferred(t, toolsearch.Bridge), g)
			a.turn()
			names := declared(a.last())
			if name == "all" {
				// With a tool of that name, tool_search cannot be declared, so nothing is deferred.
				if len(names) < 200 {
					t.Errorf("%d tools are declared, and none can be searched for", len(names))
				}
				return
			}
			if len(names) > 2 {
				t.Fatalf("%d tools are declared", len(names))
			}
			got := a.turn(search("select:huge,cyclic,no_schema,forged"), through("cyclic", map[string]any{"child": map[string]any{}}), through("no_schema", nil), through("huge", nil), search(strings.Repeat("large ", 200_000)), search(""), search("créer un ticket"))
			for i, tool := range []string{"cyclic", "no_schema", "huge"} {
				if !contains(got[i+1], "ran "+tool) {
					t.Errorf("%s: %+v", tool, got[i+1])
				}
			}
			for _, r := range got {
				if data, _ := json.Marshal(r.Response); len(data) > 40_000 {
					t.Errorf("%s returned %d bytes", r.Name, len(data))
				}
			}
		})
	}
}
