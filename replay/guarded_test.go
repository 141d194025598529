package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// looping is a turn that calls one tool over and over, with a result that never changes, and a second
// turn that reports its task as finished.
func looping(calls int) *conversation.Conversation {
	c := reading(calls, 200)
	for i := range c.Turns[0].Steps[:calls] {
		step := &c.Turns[0].Steps[i]
		step.Answer.Parts[0].FunctionCall.Args = map[string]any{"path": "main.go"}
		step.Responses[0].Response = map[string]any{"output": "package main"}
	}
	done := conversation.Turn{User: genai.NewContentFromText("Thanks.", genai.RoleUser), Steps: []conversation.Step{{
		Answer:    genai.NewContentFromFunctionCall("mark_task_done", map[string]any{"detail": "found the port"}, genai.RoleModel),
		Responses: []*genai.FunctionResponse{{ID: "done", Name: "mark_task_done", Response: map[string]any{"result": "noted"}}},
	}, {Answer: genai.NewContentFromText("Done.", genai.RoleModel)}}}
	done.Steps[0].Answer.Parts[0].FunctionCall.ID = "done"
	c.Turns = append(c.Turns, done)
	return c
}

func TestTheWatchdogReportsAndStopsNothing(t *testing.T) {
	t.Parallel()
	for mode, found := range map[watchdog.Mode]bool{watchdog.Off: false, watchdog.Warn: true} {
		reports, err := replay.Compare(t.Context(), looping(10), []replay.Policy{policy(32_000), policy(8_000)}, replay.Options{Watchdog: &watchdog.Config{Mode: mode}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			if r.With.ModelCalls != 13 || len(r.Checkpoints) != 1 || r.Checkpoints[0] != (replay.Marked{Turn: 2, Call: 11, Detail: "found the port"}) {
				t.Errorf("%d calls, checkpoints %+v", r.With.ModelCalls, r.Checkpoints)
			}
			if !found {
				if len(r.Alerts)+len(r.WouldStop) > 0 {
					t.Errorf("off, but: %+v %+v", r.Alerts, r.WouldStop)
				}
				continue
			}
			if len(r.Alerts) == 0 || r.Alerts[0].Turn != 1 || r.Alerts[0].Call != 4 || r.Alerts[0].Signal != "repeated-tool-call" || r.Alerts[0].Severity != "critical" || r.Alerts[0].Tool != "read_file" {
				t.Errorf("alerts %+v", r.Alerts)
			}
			if len(r.WouldStop) != 1 || r.WouldStop[0].Kind != "watchdog" || r.WouldStop[0].Call != 7 || r.WouldStop[0].CallsAfter != 3 {
				t.Errorf("would stop %+v", r.WouldStop)
			}
		}
	}
	reports, err := replay.Compare(t.Context(), reading(10, 200), []replay.Policy{policy(32_000)}, replay.Options{Watchdog: &watchdog.Config{}})
	if err != nil || len(reports[0].Alerts)+len(reports[0].WouldStop) > 0 {
		t.Errorf("reading ten files is work: %+v, %v", reports, err)
	}
}

func TestACeilingSaysWhereItWouldHaveStopped(t *testing.T) {
	t.Parallel()
	price := tokens.Model{Name: "m", InputPrice: 1, CachedInputPrice: 1, OutputPrice: 1}
	whole, err := replay.Play(t.Context(), looping(10), policy(32_000), replay.Options{Model: price})
	if err != nil {
		t.Fatal(err)
	}
	total := tokens.Nano(whole.With.Dollars*float64(tokens.Dollar) + 0.5)
	if whole.Summarizer.Dollars > 0 || total == 0 {
		t.Fatalf("dollars %v, summaries %v", whole.With.Dollars, whole.Summarizer.Dollars)
	}
	for _, c := range []struct {
		ceiling tokens.Nano
		call    int // -1: none
	}{{0, -1}, {1, 0}, {total, 12}, {total + 1, -1}} {
		r, err := replay.Play(t.Context(), looping(10), policy(32_000), replay.Options{Model: price, Ceiling: c.ceiling})
		if err != nil {
			t.Fatal(err)
		}
		if r.With != whole.With {
			t.Errorf("ceiling %d: %+v was played, want %+v", c.ceiling, r.With, whole.With)
		}
		switch {
		case c.call < 0 && len(r.WouldStop) > 0:
			t.Errorf("ceiling %d: would stop %+v", c.ceiling, r.WouldStop)
		case c.call >= 0 && (len(r.WouldStop) != 1 || r.WouldStop[0].Kind != "cost_ceiling" || r.WouldStop[0].Call != c.call || r.WouldStop[0].CallsAfter != 12-c.call || !strings.HasSuffix(r.WouldStop[0].Text, fmt.Sprint(" of ", c.ceiling))):
			t.Errorf("ceiling %d: would stop %+v, want call %d", c.ceiling, r.WouldStop, c.call)
		}
	}
	var sum replay.Total
	r, err := replay.Play(t.Context(), looping(10), policy(32_000), replay.Options{Model: price, Ceiling: total / 2, Watchdog: &watchdog.Config{}})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Add(r); sum.WouldStop != 2 || sum.Alerts != len(r.Alerts) || sum.Checkpoints != 1 {
		t.Errorf("total %+v", sum)
	}
}

// A ceiling counts summaries as soon as they are written.
func TestACeilingCountsSummaries(t *testing.T) {
	t.Parallel()
	price := tokens.Model{Name: "m", InputPrice: 1, CachedInputPrice: 1, OutputPrice: 1}
	c := &conversation.Conversation{ID: "chat"}
	for i := range 12 {
		c.Turns = append(c.Turns, conversation.Turn{
			User:  genai.NewContentFromText(fmt.Sprintf("Question %d: %s", i, strings.Repeat("where is my parcel and who has it now? ", 20)), genai.RoleUser),
			Steps: []conversation.Step{{Answer: genai.NewContentFromText(fmt.Sprintf("Answer %d: it is on its way.", i), genai.RoleModel)}},
		})
	}
	whole, err := replay.Play(t.Context(), c, policy(32_000), replay.Options{Model: price})
	if err != nil {
		t.Fatal(err)
	}
	agent := tokens.Nano(whole.With.Dollars*float64(tokens.Dollar) + 0.5)
	if len(whole.Compactions) == 0 || whole.Summarizer.Dollars <= 0 {
		t.Fatalf("%d compactions for %v", len(whole.Compactions), whole.Summarizer.Dollars)
	}
	r, err := replay.Play(t.Context(), c, policy(32_000), replay.Options{Model: price, Ceiling: agent + 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.WouldStop) != 1 || r.WouldStop[0].Call <= whole.Compactions[0].Call-1 {
		t.Errorf("the agent costs %v, the summaries %v, and a ceiling above the first alone stops at %+v", agent, whole.Summarizer.Dollars, r.WouldStop)
	}
}
