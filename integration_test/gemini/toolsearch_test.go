package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// deferring is an app whose agent has twenty services that are not declared, and how often they ran. The
// meter stands between the two halves of the deferral, as in a stack.
func deferring(t *testing.T, mode agent.StreamingMode, search toolsearch.Mode) (*app, *atomic.Int32) {
	t.Helper()
	a := newApp(t, func(cfg *compaction.Config) {
		cfg.InvocationThreshold, cfg.TokenThreshold = compaction.Off, compaction.Off
	})
	a.mode = mode
	ran := &atomic.Int32{}
	tools := []tool.Tool{a.lookup()}
	for i := range 20 {
		tools = append(tools, a.tool(functiontool.Config{Name: fmt.Sprintf("svc_%02d", i), Description: strings.Repeat("Does one thing out of many. ", 20)},
			func(_ agent.ToolContext, args lookupArgs) (lookupResult, error) {
				ran.Add(1)
				return lookupResult{N: args.N}, nil
			}))
	}
	deferral, err := toolsearch.New(toolsearch.Config{ContextWindow: 20_000, Mode: search, Category: func(t tool.Tool) toolsearch.Category {
		if strings.HasPrefix(t.Name(), "svc_") {
			return toolsearch.MCP
		}
		return toolsearch.BuiltIn
	}})
	if err != nil {
		t.Fatal(err)
	}
	root := func(llm model.LLM) agent.Agent {
		made, err := llmagent.New(llmagent.Config{Name: "assistant", Instruction: "Answer in one sentence.", Model: llm, Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	a.start(root(&lateModel{name: assistant})) // the meter needs the service
	meter, err := budget.New(budget.Config{Compactor: a.svc})
	if err != nil {
		t.Fatal(err)
	}
	a.runner, err = runner.New(runner.Config{AppName: ref.AppName, Agent: root(deferral.Select(meter.Model(deferral.Translate(a.client(assistant))))), SessionService: a.svc})
	if err != nil {
		t.Fatal(err)
	}
	return a, ran
}

// through is a model turn that calls a tool through tool_call.
func through(tool string, n int) reply {
	return reply{parts: []object{{"functionCall": object{"name": "tool_call", "args": object{"name": tool, "arguments": object{"n": n}}}, "thoughtSignature": signature(n)}}}
}

// declaredTo returns the names that a request declares.
func declaredTo(r *request) string {
	var names []string
	for _, t := range r.Tools {
		for _, d := range t.FunctionDeclarations {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, " ")
}

const (
	few = "lookup tool_search tool_call"
	all = few + " svc_00 svc_01 svc_02 svc_03 svc_04 svc_05 svc_06 svc_07 svc_08 svc_09 svc_10 svc_11 svc_12 svc_13 svc_14 svc_15 svc_16 svc_17 svc_18 svc_19"
)

// unexpected is how Gemini ends a turn in which the model calls a function that is not declared.
var unexpected = reply{finish: "UNEXPECTED_TOOL_CALL"}

// A layer that replaces calls must replace both with the same.
func TestPinAStreamOfGeminiShowsACallTwiceWithOneID(t *testing.T) {
	t.Parallel()
	a := simple(t, nil)
	a.mode = agent.StreamingModeSSE
	a.will(assistant, a.lookups(false, 2), answer())
	ids := map[string]int{}
	for _, ev := range a.ask() {
		for _, call := range requests.Calls(ev.Content) {
			ids[call.ID]++
		}
	}
	for id, n := range ids {
		if id == "" || n != 2 || len(ids) != 2 {
			t.Errorf("the calls have the IDs %v", ids)
		}
	}
}

// A layer that hides declarations must not leave it at that.
func TestPinADiscardedCallOfGeminiEndsTheTurnWithoutAWord(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a := simple(t, nil)
		a.mode = mode
		a.will(assistant, unexpected)
		events := a.ask()
		for _, ev := range events {
			if ev.ErrorCode != "UNEXPECTED_TOOL_CALL" || ev.FinishReason != genai.FinishReasonUnexpectedToolCall || ev.Content != nil && len(ev.Content.Parts) > 0 {
				t.Errorf("%s: %+v", mode, ev)
			}
		}
		if len(events) == 0 {
			t.Errorf("%s: no event", mode)
		}
	}
}

func TestADiscardedCallOfGeminiIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		for _, search := range []toolsearch.Mode{toolsearch.Bridge, toolsearch.Promote} {
			t.Run(fmt.Sprint(mode, search), func(t *testing.T) {
				t.Parallel()
				a, ran := deferring(t, mode, search)
				few, all := few, all
				if search == toolsearch.Promote {
					few, all = strings.Replace(few, " tool_call", "", 1), strings.Replace(all, " tool_call", "", 1)
				}
				a.chat(2)
				before := len(a.received(false))
				a.will(assistant, unexpected, calling("svc_03", false, 101), answer())
				events := a.ask()
				sent := a.received(false)[before:]
				if len(sent) != 3 || declaredTo(sent[0]) != few || declaredTo(sent[1]) != all {
					t.Fatalf("%d requests, declaring %q and %q", len(sent), declaredTo(sent[0]), declaredTo(sent[1]))
				}
				if search == toolsearch.Bridge && declaredTo(sent[2]) != few {
					t.Errorf("the next request declares %q", declaredTo(sent[2]))
				}
				first, last := contentsOf(sent[0]), contentsOf(sent[2])
				if !bytes.HasPrefix(last, first) {
					t.Errorf("the next request does not extend the first:\n%s\n%s", first, last)
				}
				if ran.Load() != 1 || !slices.ContainsFunc(events, func(ev *session.Event) bool { return len(requests.Calls(ev.Content)) > 0 }) {
					t.Errorf("the tool ran %d times", ran.Load())
				}
				for _, ev := range events {
					if ev.ErrorCode != "" {
						t.Errorf("the user sees %s", ev.ErrorCode)
					}
				}
				a.chat(1)
			})
		}
	}
}

func TestACallOfAnUndeclaredToolThatGeminiSendsRuns(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a, ran := deferring(t, mode, "")
		before := len(a.received(false))
		with := calling("svc_03", false, 102)
		with.finish = "UNEXPECTED_TOOL_CALL"
		a.will(assistant, with, through("svc_04", 103), answer())
		a.ask()
		sent := a.received(false)[before:]
		if len(sent) != 3 || ran.Load() != 2 {
			t.Fatalf("%s: %d requests, and the tools ran %d times", mode, len(sent), ran.Load())
		}
		for _, r := range sent {
			if declaredTo(r) != few {
				t.Errorf("%s: a request declares %q", mode, declaredTo(r))
			}
		}
		if body := string(sent[2].body); strings.Contains(body, `"functionCall":{"args":{"n":102}`) || strings.Count(body, signature(102)) != 1 || strings.Count(body, signature(103)) != 1 {
			t.Errorf("%s: a call is sent by its own name, or has lost its signature:\n%s", mode, body)
		}
	}
}

func TestACallThatIsDiscardedTwiceEndsTheTurnAsWithoutDeferral(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a, _ := deferring(t, mode, "")
		before := len(a.received(false))
		a.will(assistant, unexpected, unexpected)
		events, err := a.try()
		if err != nil || len(events) == 0 || events[len(events)-1].ErrorCode != "UNEXPECTED_TOOL_CALL" || len(a.received(false))-before != 2 {
			t.Errorf("%s: %d events, %v, %d requests", mode, len(events), err, len(a.received(false))-before)
		}
		a.chat(1)
	}
}

// With everything declared the prompt may be too long. The meter hears of it as of any overflow: it makes
// the request smaller, and sends it once more.
func TestAnOverflowOfTheSecondAttemptReachesTheMeter(t *testing.T) {
	t.Parallel()
	for _, mode := range bothModes {
		a, ran := deferring(t, mode, "")
		a.chat(8)
		before := len(a.received(false))
		a.will(assistant, unexpected, refusal, through("svc_03", 104), answer())
		a.ask()
		sent := a.received(false)[before:]
		if len(sent) != 4 || declaredTo(sent[1]) != all || declaredTo(sent[2]) != few || len(sent[2].body) >= len(sent[0].body) || ran.Load() != 1 || len(a.received(true)) == 0 {
			t.Errorf("%s: %d requests, %d summaries, and the tool ran %d times", mode, len(sent), len(a.received(true)), ran.Load())
		}

		a.will(assistant, unexpected, refusal, unexpected, refusal)
		_, err := a.try()
		var overflow *budget.OverflowError
		var api genai.APIError
		if !errors.As(err, &overflow) || !errors.As(err, &api) || api.Code != 400 {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// contentsOf returns the contents in the body of a request, without the end of their list.
func contentsOf(r *request) []byte {
	var body struct{ Contents json.RawMessage }
	if json.Unmarshal(r.body, &body) != nil {
		return nil
	}
	return bytes.TrimSuffix(body.Contents, []byte("]"))
}
