package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/loopagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

const watchdogNote = "[You called work 5 times in a row with the same arguments and the same result. Calling it again will not change that. Use what you have, try something else, or say what you cannot do and end your answer.]"

// looper calls work with the same arguments, and answers after a number of calls. It keeps each request as it
// was when it came.
type looper struct {
	*worker
	mu    sync.Mutex
	bytes [][]string // of each request, the JSON of its contents
}

func newLooper(t testing.TB, calls int, args func(n int) map[string]any) *looper {
	l := &looper{worker: newWorker()}
	l.answer = func(n int, req *model.LLMRequest) *genai.Content {
		var contents []string
		for _, c := range req.Contents {
			data, err := json.Marshal(c)
			if err != nil {
				t.Error(err)
			}
			contents = append(contents, string(data))
		}
		l.mu.Lock()
		l.bytes = append(l.bytes, contents)
		l.mu.Unlock()
		if n >= calls {
			return said("done")
		}
		return asks("work", args(n))
	}
	return l
}

func same(int) map[string]any { return map[string]any{"n": 1} }

// checkPrefix fails if a request does not begin with the one before, byte for byte.
func (l *looper) checkPrefix(t *testing.T) {
	t.Helper()
	for i := 1; i < len(l.bytes); i++ {
		for j, want := range l.bytes[i-1] {
			if j >= len(l.bytes[i]) || l.bytes[i][j] != want {
				t.Errorf("content %d of request %d is not as it was sent before:\n%s", j, i, want)
				break
			}
		}
	}
}

// watchdogNotes returns the stored notes, each with the number of its response.
func (d *desk) watchdogNotes() (out []string) {
	d.t.Helper()
	n := 0
	for ev := range d.stored().Events().All() {
		if ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionResponse == nil {
				continue
			}
			n++
			if note, found := p.FunctionResponse.Response["session_watchdog"]; found {
				out = append(out, fmt.Sprintf("%d %v", n, note))
			}
		}
	}
	return out
}

func TestALoopIsStopped(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLooper(t, 100, same)
			d := newDesk(t, guard.Config{Watchdog: watchdog.Config{Mode: watchdog.Stop}}, l.worker)
			_, errs := d.say("go", mode, 0)
			var stop *guard.StopError
			if len(errs) != 1 || !errors.As(errs[0], &stop) || !errors.Is(errs[0], guard.ErrStopped) {
				t.Fatalf("the run ends with %v", errs)
			}
			want := guard.StopError{Kind: guard.Watchdog, Scope: guard.ScopeTurn, Spent: "called work 8 times in a row with the same arguments and the same result."}
			if *stop != want {
				t.Errorf("%+v, want %+v", *stop, want)
			}
			if l.calls() != 8 || d.runs != 8 {
				t.Errorf("%d model calls and %d tool runs, want 8", l.calls(), d.runs)
			}
			if got := d.watchdogNotes(); len(got) != 1 || got[0] != "5 "+watchdogNote {
				t.Errorf("notes %q", got)
			}
			if alerts, trips := d.observed(guard.Alerted), d.observed(guard.Tripped); alerts != 1 || trips != 1 {
				t.Errorf("%d alerts and %d trips are observed", alerts, trips)
			}
			l.checkPrefix(t)
			d.checkPairs()
			if u := d.used(); u.ModelCalls != 8 || u.USD != 8*callCost {
				t.Errorf("%d calls for %v are counted", u.ModelCalls, u.USD)
			}

			// A new message of the user begins anew.
			before := l.calls()
			if _, errs := d.say("go on", mode, 0); len(errs) != 1 || l.calls() != before+8 {
				t.Errorf("the next turn has %d calls and ends with %v", l.calls()-before, errs)
			}
			l.checkPrefix(t)
			d.checkPairs()
		})
	}
}

// ADK answers a call of a tool that does not exist with a list of all tools, each time in another order.
func TestALoopOfAnUnknownToolIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorker()
	w.answer = func(int, *model.LLMRequest) *genai.Content { return asks("owl", nil) }
	more := func(_ *desk, c *llmagent.Config) {
		for _, name := range strings.Fields("ant bee cat dog eel fox gnu hen") {
			ft, err := functiontool.New(functiontool.Config{Name: name}, func(agent.ToolContext, struct{}) (string, error) { return "", nil })
			if err != nil {
				t.Fatal(err)
			}
			c.Tools = append(c.Tools, ft)
		}
	}
	d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 30}, Watchdog: watchdog.Config{Mode: watchdog.Stop}}, w, more)
	_, errs := d.say("go", agent.StreamingModeNone, 0)
	var stop *guard.StopError
	if len(errs) != 1 || !errors.As(errs[0], &stop) || stop.Kind != guard.Watchdog || w.calls() != 8 {
		t.Errorf("after %d calls the run ends with %v", w.calls(), errs)
	}
}

func TestALoopStopsAsAnEvent(t *testing.T) {
	t.Parallel()
	l := newLooper(t, 100, same)
	d := newDesk(t, guard.Config{OnStop: guard.AsEvent, Watchdog: watchdog.Config{Mode: watchdog.Stop}}, l.worker)
	events, errs := d.say("go", agent.StreamingModeNone, 0)
	if len(errs) > 0 || events[len(events)-1].ErrorCode != "watchdog" || l.calls() != 8 {
		t.Errorf("%d calls, errors %v, last event %+v", l.calls(), errs, events[len(events)-1].LLMResponse)
	}
}

// In mode warn, what the model gets and what is stored is as without a watchdog.
func TestAWarningChangesNothing(t *testing.T) {
	t.Parallel()
	sent := map[watchdog.Mode]string{}
	for _, mode := range []watchdog.Mode{watchdog.Off, watchdog.Warn, ""} {
		l := newLooper(t, 30, same)
		d := newDesk(t, guard.Config{Watchdog: watchdog.Config{Mode: mode}}, l.worker)
		if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 {
			t.Fatal(errs)
		}
		alerts := 1
		if mode == watchdog.Off {
			alerts = 0
		}
		if n := d.observed(guard.Alerted); n != alerts || l.calls() != 31 || len(d.watchdogNotes()) > 0 {
			t.Errorf("mode %q: %d alerts, %d calls, notes %q", mode, n, l.calls(), d.watchdogNotes())
		}
		var all []string
		for _, contents := range l.bytes {
			for _, c := range contents {
				all = append(all, withoutIDs(t, c))
			}
		}
		sent[mode] = strings.Join(all, "\n")
	}
	if sent[""] != sent[watchdog.Off] || sent[watchdog.Warn] != sent[watchdog.Off] {
		t.Error("requests differ")
	}
}

// withoutIDs removes the IDs of calls, which are random.
func withoutIDs(t *testing.T, content string) string {
	t.Helper()
	var c genai.Content
	if err := json.Unmarshal([]byte(content), &c); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Parts {
		if p.FunctionCall != nil {
			p.FunctionCall.ID = ""
		}
		if p.FunctionResponse != nil {
			p.FunctionResponse.ID = ""
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestANoteDoesNotStop(t *testing.T) {
	t.Parallel()
	l := newLooper(t, 30, same)
	d := newDesk(t, guard.Config{Watchdog: watchdog.Config{Mode: watchdog.Note}}, l.worker)
	if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 || l.calls() != 31 {
		t.Errorf("%d calls, %v", l.calls(), errs)
	}
	if got := d.watchdogNotes(); len(got) != 1 || got[0] != "5 "+watchdogNote {
		t.Errorf("notes %q", got)
	}
	l.checkPrefix(t)
}

// Notes of the budget and the watchdog in one result do not hide that results are alike.
func TestNotesDoNotHideALoop(t *testing.T) {
	t.Parallel()
	l := newLooper(t, 100, same)
	d := newDesk(t, guard.Config{Turn: guard.Limits{ModelCalls: 20}, NoteAt: 0.1, Watchdog: watchdog.Config{Mode: watchdog.Stop}}, l.worker)
	_, errs := d.say("go", agent.StreamingModeNone, 0)
	var stop *guard.StopError
	if len(errs) != 1 || !errors.As(errs[0], &stop) || stop.Kind != guard.Watchdog || l.calls() != 8 || d.observed(guard.Noted) != 1 {
		t.Errorf("%d calls, %v", l.calls(), errs)
	}
}

func TestWorkIsNotStopped(t *testing.T) {
	t.Parallel()
	l := newLooper(t, 60, func(n int) map[string]any { return map[string]any{"n": n} })
	d := newDesk(t, guard.Config{Watchdog: watchdog.Config{Mode: watchdog.Stop}}, l.worker)
	if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 || l.calls() != 61 || d.observed(guard.Alerted) > 0 {
		t.Errorf("%d calls, %v, %d alerts", l.calls(), errs, d.observed(guard.Alerted))
	}
}

// Agents that run in parallel are followed by themselves.
func TestParallelAgentsAreNoLoop(t *testing.T) {
	t.Parallel()
	l := newLooper(t, 0, same)
	d := newDesk(t, guard.Config{Watchdog: watchdog.Config{Mode: watchdog.Stop}}, l.worker)
	var mu sync.Mutex
	calls := map[string]int{}
	var agents []agent.Agent
	for i := range 6 {
		llm := newWorker()
		llm.answer = func(n int, _ *model.LLMRequest) *genai.Content {
			mu.Lock()
			calls[fmt.Sprint(i)]++
			mu.Unlock()
			if n == 4 {
				return said("done")
			}
			return asks("work", same(n))
		}
		agents = append(agents, mustNamed(t, d, fmt.Sprint("a", i), llm))
	}
	p, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "all", SubAgents: agents}})
	if err != nil {
		t.Fatal(err)
	}
	d.serve(p)
	if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 || d.observed(guard.Alerted) > 0 || d.runs != 24 {
		t.Errorf("%d tool runs, %d alerts, %v", d.runs, d.observed(guard.Alerted), errs)
	}
}

func mustNamed(t *testing.T, d *desk, name string, llm model.LLM) agent.Agent {
	t.Helper()
	a, err := llmagent.New(llmagent.Config{Name: name, Model: d.guard.Model(llm), Tools: []tool.Tool{work(t, d.ran)}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A loop agent whose agent makes one and the same call each time goes in circles, too.
func TestALoopAgentIsStopped(t *testing.T) {
	t.Parallel()
	llm := newWorker()
	llm.answer = func(n int, _ *model.LLMRequest) *genai.Content {
		if n%2 == 0 {
			return asks("work", same(n))
		}
		return said("not yet")
	}
	d := newDesk(t, guard.Config{Watchdog: watchdog.Config{Mode: watchdog.Stop}}, llm)
	loop, err := loopagent.New(loopagent.Config{MaxIterations: 100, AgentConfig: agent.Config{Name: "loop", SubAgents: []agent.Agent{mustNamed(t, d, "checker", llm)}}})
	if err != nil {
		t.Fatal(err)
	}
	d.serve(loop)
	_, errs := d.say("go", agent.StreamingModeNone, 5)
	var stop *guard.StopError
	if len(errs) == 0 || !errors.As(errs[0], &stop) || stop.Kind != guard.Watchdog || d.runs != 8 {
		t.Errorf("%d tool runs, %v", d.runs, errs)
	}
}

// recorder keeps what it was shown.
type recorder struct {
	mu    *sync.Mutex
	steps *[]watchdog.Step
}

func (recorder) Name() string { return "recorder" }
func (r recorder) Observe(s watchdog.Step) *watchdog.Alert {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Calls = append([]watchdog.Call(nil), s.Calls...)
	*r.steps = append(*r.steps, s)
	return nil
}
func (recorder) Reset() {}

// Signals of the app see what was called, what it cost, which files were changed, and whether there was text.
func TestSignalsSeeTheSteps(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var steps []watchdog.Step
	llm := newWorker()
	llm.answer = func(n int, _ *model.LLMRequest) *genai.Content {
		if n == 1 {
			return said("done")
		}
		c := asks("work", map[string]any{"n": 7})
		c.Parts = append([]*genai.Part{{Text: "thinking", Thought: true}, {Text: "I look."}}, c.Parts...)
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: "work", Args: map[string]any{"n": 8}}})
		return c
	}
	d := newDesk(t, guard.Config{Watchdog: watchdog.Config{
		Signals: []func() watchdog.Signal{func() watchdog.Signal { return recorder{&mu, &steps} }},
		Files:   func(tool string, args map[string]any) []string { return []string{fmt.Sprint(tool, args["n"])} },
	}}, llm)
	if _, errs := d.say("go", agent.StreamingModeNone, 0); len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(steps) != 2 {
		t.Fatalf("%d steps: %+v", len(steps), steps)
	}
	one, two := steps[0], steps[1]
	if one.Agent != "desk" || !one.Text || one.PromptTokens != 500 || one.Cost != callCost || one.Time.IsZero() || one.Invocation == "" || fmt.Sprint(one.Files) != "[work7 work8]" {
		t.Errorf("%+v", one)
	}
	if len(one.Calls) != 2 || one.Calls[0].Tool != "work" || !one.Calls[0].Result.Known || one.Calls[0].Result.Hash != one.Calls[1].Result.Hash ||
		!strings.Contains(`{"n":7}{"n":8}{"n":7}`, one.Calls[0].Args+one.Calls[1].Args) {
		t.Errorf("%+v", one.Calls)
	}
	if len(two.Calls) > 0 || !two.Text || two.Cost != callCost || two.Invocation != one.Invocation {
		t.Errorf("%+v", two)
	}
}

func TestARefusedWatchdogIsNamed(t *testing.T) {
	t.Parallel()
	_, err := guard.New(guard.Config{Watchdog: watchdog.Config{Repeats: 1}})
	var refused *compaction.ConfigError
	if !errors.As(err, &refused) || refused.Field != "Watchdog.Repeats" || !strings.Contains(err.Error(), "Watchdog") {
		t.Error(err)
	}
}
