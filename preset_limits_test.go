package longsession_test

import (
	"errors"
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
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

type stepArgs struct {
	Step int `json:"step"`
}

// stepTool is a tool that asks for a confirmation if an ask mode says so.
func stepTool(t *testing.T, ask preset.Ask, changes bool) tool.Tool {
	t.Helper()
	step, err := functiontool.New(functiontool.Config{
		Name: "step", Description: "makes one step", RequireConfirmationProvider: func(stepArgs) bool { return ask.Asks(changes) },
	}, func(_ agent.ToolContext, args stepArgs) (map[string]any, error) {
		return map[string]any{"made": fmt.Sprintf("step %d", args.Step)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// walks calls the tool so many times, with other arguments each time, and then answers.
func walks(steps int) func(int, *model.LLMRequest) *model.LLMResponse {
	return func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n < steps {
			return compactiontest.CallTool("step", map[string]any{"step": n})
		}
		return compactiontest.Say("That was all.")
	}
}

// circles calls the tool so many times with the same arguments, and then answers.
func circles(steps int) func(int, *model.LLMRequest) *model.LLMResponse {
	return func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n < steps {
			return compactiontest.CallTool("step", map[string]any{"step": 1})
		}
		return compactiontest.Say("That was all.")
	}
}

// held checks that calls have stopped at a bound: no call began at or above it, and the next one would not
// have fitted, or was the last that does.
func held(t *testing.T, spent []tokens.Nano, bound tokens.Nano) {
	t.Helper()
	var before, total tokens.Nano
	for _, cost := range spent {
		before, total = total, total+cost
	}
	if before >= bound {
		t.Errorf("the last of %d calls began at %v, with a bound of %v", len(spent), before, bound)
	}
	if last := spent[len(spent)-1]; total+last*2 < bound {
		t.Errorf("the %d calls end at %v, and the bound is %v", len(spent), total, bound)
	}
}

// TestCeilingsOfSettingsTakeEffect: what a model costs stops at the ceiling that a source sets, and never with a
// ceiling of 0.
func TestCeilingsOfSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	type row struct {
		in    preset.In
		bound tokens.Nano // 0: none
	}
	turns, sessions := map[string]row{}, map[string]row{}
	for source, values := range settingSources {
		for text, bound := range map[string]tokens.Nano{"0.05": 5 * tokens.Cent, "0": 0} {
			var turn, total preset.In
			setTexts(t, values(&turn), "agent.max_turn_cost_usd="+text)
			turns[fmt.Sprintf("%s by %s", text, source)] = row{turn, bound}
			setTexts(t, values(&total), "agent.max_session_cost_usd="+text)
			sessions[fmt.Sprintf("%s by %s", text, source)] = row{total, bound}
		}
		var attended, unattended preset.In
		setTexts(t, values(&attended), "agent.model=house-dear", "session.preset=longrun")
		setTexts(t, values(&unattended), "agent.model=house-dear", "session.preset=longrun", "session.unattended=true")
		turns[fmt.Sprintf("longrun by %s", source)] = row{attended, 50 * tokens.Cent}
		turns[fmt.Sprintf("unattended longrun by %s", source)] = row{unattended, 1 * tokens.Dollar}
		sessions[fmt.Sprintf("unattended longrun by %s", source)] = row{unattended, 20 * tokens.Dollar}
	}
	for name, r := range turns {
		t.Run("a turn, "+name, func(t *testing.T) {
			t.Parallel()
			s := settled(t, r.in)
			run := stage(t, s, walks(30), nil, stepTool(t, s.Ask.Value, false))
			_, err := run.say("Walk.")
			var stopped *guard.StopError
			if errors.As(err, &stopped); err != nil && stopped == nil {
				t.Fatal(err)
			}
			if r.bound == 0 {
				if len(run.spent) != 31 || err != nil {
					t.Errorf("%d calls and %v without a ceiling", len(run.spent), err)
				}
				return
			}
			held(t, run.spent, r.bound)
		})
	}
	for name, r := range sessions {
		t.Run("a session, "+name, func(t *testing.T) {
			t.Parallel()
			run := stage(t, settled(t, r.in), say, nil)
			var stopped *guard.StopError
			turns := 0
			for turns < 80 && stopped == nil {
				_, err := run.say("Go on.")
				if errors.As(err, &stopped); err != nil && stopped == nil {
					t.Fatal(err)
				}
				turns++
			}
			if r.bound == 0 {
				if stopped != nil || len(run.spent) != turns {
					t.Errorf("%d calls in %d turns, and %v without a ceiling", len(run.spent), turns, stopped)
				}
				return
			}
			if stopped == nil || stopped.Scope != guard.ScopeSession || stopped.Kind != guard.CostCeiling {
				t.Fatalf("stopped after %d turns by %v", turns, stopped)
			}
			held(t, run.spent, r.bound)
			calls := len(run.spent)
			if _, err := run.say("And now?"); !errors.Is(err, guard.ErrStopped) || len(run.spent) != calls {
				t.Errorf("the next run made %d calls more: %v", len(run.spent)-calls, err)
			}
		})
	}
}

// TestIterationsOfSettingsTakeEffect: after as many calls that may call tools comes one that may not.
func TestIterationsOfSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		in   preset.In
		want int // calls with tools
	}{}
	for source, values := range settingSources {
		for text, want := range map[string]int{"agent.max_tool_iterations=4": 4, "agent.max_tool_iterations=0": 31, "session.preset=longrun": 25} {
			var in preset.In
			setTexts(t, values(&in), text)
			rows[fmt.Sprintf("%s by %s", text, source)] = struct {
				in   preset.In
				want int
			}{in, want}
		}
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settled(t, r.in)
			run := stage(t, s, walks(30), nil, stepTool(t, s.Ask.Value, false))
			if _, err := run.say("Walk."); err != nil && !errors.Is(err, guard.ErrStopped) {
				t.Fatal(err)
			}
			with, without := 0, 0
			for _, req := range run.sent {
				if c := req.Config.ToolConfig; c != nil && c.FunctionCallingConfig != nil && c.FunctionCallingConfig.Mode == genai.FunctionCallingConfigModeNone {
					without++
				} else {
					with++
				}
			}
			if last := 1; with != r.want || without != last && r.want < 31 {
				t.Errorf("%d calls with tools and %d without, want %d", with, without, r.want)
			}
		})
	}
}

// TestTheWatchdogOfSettingsTakesEffect: the same call twelve times is reported, told to the model or stopped.
func TestTheWatchdogOfSettingsTakesEffect(t *testing.T) {
	t.Parallel()
	for source, values := range settingSources {
		for text, want := range map[string]struct{ alerts, told, stopped bool }{
			"safety.watchdog=warn": {alerts: true}, "safety.watchdog=note": {alerts: true, told: true},
			"safety.watchdog=stop": {alerts: true, told: true, stopped: true}, "safety.watchdog=off": {},
			"session.ask=auto":        {alerts: true}, // the default
			"session.unattended=true": {alerts: true, told: true, stopped: true},
		} {
			t.Run(fmt.Sprintf("%s by %s", text, source), func(t *testing.T) {
				t.Parallel()
				var in preset.In
				setTexts(t, values(&in), text)
				setTexts(t, &in.App, "agent.no_ceiling=true")
				s := settled(t, in)
				run := stage(t, s, circles(12), nil, stepTool(t, s.Ask.Value, false))
				_, err := run.say("Walk.")
				var stopped *guard.StopError
				if errors.As(err, &stopped); err != nil && stopped == nil {
					t.Fatal(err)
				}
				if got := stopped != nil && stopped.Kind == guard.Watchdog; got != want.stopped {
					t.Errorf("stopped by %v after %d calls, want it stopped: %v", stopped, len(run.sent), want.stopped)
				}
				if got := run.observed(guard.Alerted) > 0; got != want.alerts {
					t.Errorf("reported: %v, want %v", got, want.alerts)
				}
				if got := toldOfLoop(run.sent); got != want.told {
					t.Errorf("the model was told: %v, want %v", got, want.told)
				}
			})
		}
	}
}

// toldOfLoop reports whether a tool result in the requests says that a call is repeated.
func toldOfLoop(requests []*model.LLMRequest) bool {
	for _, req := range requests {
		for _, content := range req.Contents {
			for _, p := range content.Parts {
				if p.FunctionResponse == nil {
					continue
				}
				for _, value := range p.FunctionResponse.Response {
					if text, isText := value.(string); isText && strings.HasPrefix(text, "[You ") {
						return true
					}
				}
			}
		}
	}
	return false
}

// TestUnpricedOfSettingsTakesEffect on a model without a price.
func TestUnpricedOfSettingsTakesEffect(t *testing.T) {
	t.Parallel()
	for source, values := range settingSources {
		for text, want := range map[string]struct{ reported, refused, charged bool }{
			"agent.unpriced=warn": {reported: true}, "agent.unpriced=refuse": {refused: true}, "agent.unpriced=house-large": {charged: true},
			"session.ask=auto":        {reported: true}, // the default
			"session.unattended=true": {refused: true},
		} {
			t.Run(fmt.Sprintf("%s by %s", text, source), func(t *testing.T) {
				t.Parallel()
				var in preset.In
				setTexts(t, values(&in), "agent.model=house-free", text)
				setTexts(t, &in.App, "agent.no_ceiling=true")
				run := stage(t, settled(t, in), say, nil)
				_, err := run.say("Hello.")
				var unpriced *guard.UnpricedError
				if errors.As(err, &unpriced) != want.refused || err != nil && !want.refused {
					t.Fatalf("refused: %v, want %v", err, want.refused)
				}
				if got := len(run.sent) == 0; got != want.refused {
					t.Errorf("%d calls, and refused: %v", len(run.sent), want.refused)
				}
				if got := run.observed(guard.Unpriced) > 0; got != want.reported {
					t.Errorf("reported: %v, want %v", got, want.reported)
				}
				if want.refused {
					return
				}
				usage, err := run.stack.Guard.Usage(t.Context(), run.stack.Sessions, run.ref)
				if err != nil || usage.USD > 0 != want.charged {
					t.Errorf("charged %v, want some: %v (%v)", usage.USD, want.charged, err)
				}
			})
		}
	}
}

// TestToolsOfSettingsAreOffered to the model, and only those.
func TestToolsOfSettingsAreOffered(t *testing.T) {
	t.Parallel()
	const mark, compact = "mark_task_done", "compact_context"
	for source, values := range settingSources {
		for texts, want := range map[string][]string{
			"session.ask=auto": nil, "session.checkpoint=model": {mark}, "session.checkpoint=operator": nil, "session.checkpoint=off": nil,
			"session.compact_context=true": {compact}, "session.checkpoint=model session.compact_context=true": {mark, compact},
			"session.preset=longrun": {mark, compact}, "session.preset=longrun session.checkpoint=off": {compact}, "session.preset=longrun session.compact_context=false": {mark},
		} {
			t.Run(fmt.Sprintf("%s by %s", texts, source), func(t *testing.T) {
				t.Parallel()
				var in preset.In
				setTexts(t, values(&in), strings.Fields(texts)...)
				run := stage(t, settled(t, in), say, nil)
				if _, err := run.say("Hello."); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{mark, compact} {
					if got := declares(run.sent[0], name); got != slices.Contains(want, name) {
						t.Errorf("%s is offered: %v, want %v", name, got, want)
					}
				}
			})
		}
	}
}

func declares(req *model.LLMRequest, name string) bool {
	for _, group := range req.Config.Tools {
		if slices.ContainsFunc(group.FunctionDeclarations, func(d *genai.FunctionDeclaration) bool { return d.Name == name }) {
			return true
		}
	}
	return false
}

// TestAskModesOfSettingsTakeEffect where the app asks them.
func TestAskModesOfSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	for source, values := range settingSources {
		for text, asks := range map[string][2]bool{ // before a tool that reads, and one that changes something
			"session.ask=always": {true, true}, "session.ask=auto": {false, true}, "session.ask=allow": {false, false},
			"session.task_class=research": {false, false}, "session.task_class=implement": {false, true},
		} {
			for i, changes := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s by %s, changes: %v", text, source, changes), func(t *testing.T) {
					t.Parallel()
					var in preset.In
					setTexts(t, values(&in), text)
					s := settled(t, in)
					run := stage(t, s, walks(1), nil, stepTool(t, s.Ask.Value, changes))
					events, err := run.say("Walk.")
					if err != nil {
						t.Fatal(err)
					}
					asked := slices.ContainsFunc(events, func(ev *session.Event) bool {
						return ev.Content != nil && slices.ContainsFunc(ev.Content.Parts, func(p *genai.Part) bool {
							return p.FunctionCall != nil && p.FunctionCall.Name == "adk_request_confirmation"
						})
					})
					if asked != asks[i] {
						t.Errorf("asked: %v, want %v", asked, asks[i])
					}
				})
			}
		}
	}
}

// TestSmallModelsOfSettingsTakeEffect: what an agentic tool reads is sent to the model that the settings name, and
// the app offers such tools only if the settings say so.
func TestSmallModelsOfSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	for source, values := range settingSources {
		for texts, want := range map[string]string{ // which model reads
			"agent.agentic_tools=true":                                        "house-large", // no small model of this provider is known
			"agent.agentic_tools=false":                                       "",
			"agent.agentic_tools=true agent.agentic_small_model=house-little": "house-little",
			"session.preset=longrun agent.agentic_small_model=house-little":   "house-little",
		} {
			t.Run(fmt.Sprintf("%s by %s", texts, source), func(t *testing.T) {
				t.Parallel()
				var in preset.In
				setTexts(t, values(&in), strings.Fields(texts)...)
				s := settled(t, in)
				reads := map[string]int{}
				answer := func(name string) *compactiontest.Model {
					return compactiontest.NewModel(name, func(_ int, req *model.LLMRequest) *model.LLMResponse {
						if text := req.Contents[0].Parts[0].Text; !strings.Contains(text, parentQuestion) {
							reads[name]++
							return compactiontest.Say("The file is about stones.")
						}
						if last := req.Contents[len(req.Contents)-1].Parts[0]; declares(req, "agentic_read_file") && last.FunctionResponse == nil {
							return compactiontest.CallTool("agentic_read_file", map[string]any{"path": "stones.txt", "question": "What is it about?"})
						}
						return compactiontest.Say("Stones.")
					})
				}
				models := map[string]*compactiontest.Model{"house-large": answer("house-large"), "house-little": answer("house-little")}
				playSubtask(t, s, models)
				if got := len(reads); want == "" && got > 0 || want != "" && (got != 1 || reads[want] == 0) {
					t.Errorf("read by %v, want %q", reads, want)
				}
			})
		}
	}
}

const parentQuestion = "Tell me what is in stones.txt."

// playSubtask is an app that follows the settings of agentic tools.
func playSubtask(t *testing.T, s preset.Settings, models map[string]*compactiontest.Model) {
	t.Helper()
	llm := models[s.Model.Value]
	cfg, err := longsession.FromSettings(s, llm)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Registry = houseModels(t)
	stack := newStack(t, cfg)
	read, err := functiontool.New(functiontool.Config{Name: "read_file", Description: "reads a file"},
		func(_ agent.ToolContext, args struct {
			Path string `json:"path"`
		}) (map[string]any, error) {
			return map[string]any{"text": "stone upon stone"}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	offered := []tool.Tool{read}
	if s.AgenticTools.Value {
		subtasks, err := stack.Subtasks(subtask.Config{Model: models[s.SmallModel.Value], Parent: llm})
		if err != nil {
			t.Fatal(err)
		}
		if offered, err = subtasks.Wrappers(read); err != nil {
			t.Fatal(err)
		}
	}
	clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Model: stack.Model(llm), Tools: offered})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: clerk, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText(parentQuestion, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
}
