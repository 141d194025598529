package contexttool_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/summarizer"
)

var compacted = regexp.MustCompile(`^Context compacted: \d{1,3}(,\d{3})* -> \d{1,3}(,\d{3})* tokens, \d+ events -> \d+\. Everything stays readable in the session\.$`)

// The next request of the same turn is smaller, and has the call and its answer as they are.
func TestCompactContextMakesTheNextRequestSmaller(t *testing.T) {
	t.Parallel()
	a := newApp(t, contexttool.Config{}, nil, talk(map[string]*model.LLMResponse{
		"Make room": one(contexttool.CompactContextName, map[string]any{"focus": "the prices"}),
	}), nil)
	for range 12 {
		a.ask("Go on. " + long)
	}
	a.ask("Make room. " + long)
	answers := a.answers(contexttool.CompactContextName)
	if len(answers) != 1 || !compacted.MatchString(answers[0]["result"].(string)) {
		t.Fatalf("answers %v", answers)
	}
	requests := a.model.Requests()
	before, after := requests[12], requests[13]
	if len(after) >= len(before) {
		t.Errorf("%d contents before, %d after", len(before), len(after))
	}
	call, answer := after[len(after)-2].Parts[0].FunctionCall, after[len(after)-1].Parts[0].FunctionResponse
	if call == nil || answer == nil || call.Name != contexttool.CompactContextName || answer.ID != call.ID {
		t.Errorf("the request ends with %+v and %+v", after[len(after)-2].Parts[0], after[len(after)-1].Parts[0])
	}
	if got := a.records(); len(got) != 1 || got[0].Focus != "the prices" {
		t.Errorf("records %+v", got)
	}
}

func TestCompactContextWorksOnceInTenEvents(t *testing.T) {
	t.Parallel()
	for every, want := range map[int]int{0: 2, compaction.Off: 3, 3: 3} {
		a := newApp(t, contexttool.Config{CompactEvery: every}, nil, talk(map[string]*model.LLMResponse{
			"Make room": one(contexttool.CompactContextName, nil),
		}), nil)
		for i := range 20 {
			text := "Go on. "
			if i == 10 || i == 12 || i == 17 { // the second is four events behind the answer of the first
				text = "Make room. "
			}
			a.ask(text + long)
		}
		done, refused := 0, 0
		for _, answer := range a.answers(contexttool.CompactContextName) {
			switch text := answer["result"].(string); {
			case compacted.MatchString(text):
				done++
			case answer["no_op"] == true && strings.Contains(text, "works once in 10 events"):
				refused++
			default:
				t.Errorf("every %d: %v", every, answer)
			}
		}
		if done != want || done+refused != 3 {
			t.Errorf("every %d: compacted %d times and refused %d", every, done, refused)
		}
	}
}

// Two calls in one round run at the same time, in either order; the first of the round does it. Other
// tools of the round are no hindrance: their calls stay raw.
func TestCompactContextTwiceInOneRound(t *testing.T) {
	t.Parallel()
	for _, late := range []string{"first", "second"} {
		t.Run("the "+late+" starts late", func(t *testing.T) {
			t.Parallel()
			round := compactiontest.CallTool(contexttool.CompactContextName, map[string]any{"focus": "first"}, map[string]any{"focus": "second"})
			round.Content.Parts = append(round.Content.Parts, genai.NewPartFromFunctionCall(contexttool.MarkTaskDoneName, detail("the prices")))
			wait := func(_ agent.ToolContext, _ tool.Tool, args map[string]any) (map[string]any, error) {
				if args["focus"] == late {
					time.Sleep(100 * time.Millisecond)
				}
				return nil, nil
			}
			a := newApp(t, contexttool.Config{}, nil, talk(map[string]*model.LLMResponse{"Make room": round}), func(a *app) agent.Agent {
				bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: a.model, Tools: a.tools.Tools(), BeforeToolCallbacks: []llmagent.BeforeToolCallback{wait}})
				if err != nil {
					t.Fatal(err)
				}
				return bot
			})
			for range 12 {
				a.ask("Go on. " + long)
			}
			slow := func() { time.Sleep(200 * time.Millisecond) } // the early one is not done when the late one starts
			a.inner.hook.Store(&slow)
			a.ask("Make room. " + long)
			done, noOps := 0, 0
			for _, answer := range a.answers(contexttool.CompactContextName) {
				if text := answer["result"].(string); answer["no_op"] == true && (strings.Contains(text, "the first call") || strings.Contains(text, "right now")) {
					noOps++
				} else if compacted.MatchString(answer["result"].(string)) {
					done++
				}
			}
			if done != 1 || noOps != 1 {
				t.Errorf("answers %v", a.answers(contexttool.CompactContextName))
			}
			if answers := a.answers(contexttool.MarkTaskDoneName); len(answers) != 1 {
				t.Errorf("%d answers of the other tool", len(answers))
			}
		})
	}
}

func TestCompactContextSaysWhyNothingWasDone(t *testing.T) {
	t.Parallel()
	boom := errors.New("the model is down")
	for want, row := range map[string]struct {
		turns  int
		change func(*compaction.Config)
		key    string
	}{
		"Nothing was done: the newest turns always stay word for word, and nothing older is left to summarize.": {turns: 1, key: "result"},
		"was not compacted": {turns: 12, key: "error", change: func(c *compaction.Config) {
			c.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
				return summarizer.Result{}, boom
			})
		}},
		"the model panics": {turns: 12, key: "error", change: func(c *compaction.Config) {
			c.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
				panic("the model panics")
			})
		}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, contexttool.Config{}, row.change, talk(map[string]*model.LLMResponse{
				"Make room": one(contexttool.CompactContextName, nil),
			}), nil)
			for range row.turns {
				a.ask("Go on. " + long)
			}
			a.ask("Make room. " + long) // does not fail
			answers := a.answers(contexttool.CompactContextName)
			text, _ := answers[0][row.key].(string)
			if len(answers) != 1 || !strings.Contains(text, want) || row.key == "result" && answers[0]["no_op"] != true {
				t.Errorf("answers %v", answers)
			}
			if n := len(a.records()); n != 0 {
				t.Errorf("%d records", n)
			}
		})
	}
}
