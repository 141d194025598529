package watchdog_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

func newWatchdog(t testing.TB, cfg watchdog.Config) *watchdog.Watchdog {
	t.Helper()
	w, err := watchdog.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// play observes one answer for each word. "a" is a call of tool a whose result is always the same, "a!" one with another
// result each time, "a?" one whose result is not known, "a+b" an answer with two calls, "a~" has other
// arguments each time, and "." is a text.
func play(w *watchdog.Watchdog, words string) (seen []string, stop string) {
	for i, word := range strings.Fields(words) {
		s := watchdog.Step{Branch: "root", Agent: "agent", Text: word == "."}
		for _, name := range strings.Split(word, "+") {
			tool := strings.TrimRight(name, "!?~")
			args, response := map[string]any{"x": 1}, map[string]any{"result": "the result of " + tool}
			switch {
			case word == ".":
				continue
			case strings.HasSuffix(name, "!"):
				response = map[string]any{"result": changing(i)}
			case strings.HasSuffix(name, "?"):
				response = nil
			case strings.HasSuffix(name, "~"):
				args = map[string]any{"x": i}
			}
			s.Calls = append(s.Calls, w.Call("", tool, args, response))
		}
		v := w.Observe(s)
		for _, a := range v.Alerts {
			seen = append(seen, fmt.Sprintf("%d %s %s", i+1, a.Signal, a.Severity))
		}
		if v.Stop != nil && stop == "" {
			stop = fmt.Sprintf("%d %s", i+1, v.Stop.Signal)
		}
	}
	return seen, stop
}

// changing is a number that is another one each time, and counts nothing.
func changing(i int) int { return (i*7_919 + 13) % 1_009 }

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, steps string
		cfg         watchdog.Config
		want        string // alerts
		stop        string
	}{
		{"five equal calls", "a a a a a", watchdog.Config{}, "5 repeated-tool-call critical", ""},
		{"four are none", "a a a a", watchdog.Config{}, "", ""},
		{"seven are one alert", "a a a a a a a", watchdog.Config{}, "5 repeated-tool-call critical", ""},
		{"forty are one alert, and a stop after three more", strings.Repeat("a ", 40), watchdog.Config{}, "5 repeated-tool-call critical", "8 repeated-tool-call"},
		{"another call in between, with changing results", "a! b! a! b! a!", watchdog.Config{}, "", ""},
		{"another call in between", "a b a b a", watchdog.Config{}, "", ""},
		{"six calls in turn", "a b a b a b a b a b", watchdog.Config{}, "6 cycle critical", "9 cycle"},
		{"changing results", strings.Repeat("a! ", 40), watchdog.Config{}, "", ""},
		{"changing results, if they do not matter", "a! a! a! a! a! a! a!", watchdog.Config{Mode: watchdog.Warn, CallsAlone: true}, "5 repeated-tool-call warning", ""},
		{"a result that stops changing", "a! a! a! a a a a a", watchdog.Config{}, "8 repeated-tool-call critical", ""},
		{"unknown results never stop", strings.Repeat("a? ", 20), watchdog.Config{}, "5 repeated-tool-call warning", ""},
		{"calls that wait are named", strings.Repeat("a ", 19), watchdog.Config{Polling: []string{"a"}}, "", ""},
		{"20 equal results of one that waits", strings.Repeat("a ", 20), watchdog.Config{Polling: []string{"a"}}, "20 repeated-tool-call critical", ""},
		{"waiting in turn with a pause", strings.Repeat("a pause ", 19), watchdog.Config{Polling: []string{"a"}}, "", ""},
		{"20 laps of that", strings.Repeat("a pause ", 20), watchdog.Config{Polling: []string{"a"}}, "40 cycle critical", ""},
		{"text ends no row of calls, as in a loop agent", "a . a . a . a . a", watchdog.Config{}, "9 repeated-tool-call critical", ""},
		{"a round with both", "a+b b+a a+b", watchdog.Config{}, "3 cycle critical", ""},
		{"a round goes on with the row", "a a a a b+a", watchdog.Config{}, "5 repeated-tool-call critical", ""},
		{"a round of equal calls", "a+a+a+a+a", watchdog.Config{}, "1 repeated-tool-call critical", ""},
		{"one of a round changes", strings.Repeat("a!+b! ", 12), watchdog.Config{}, "", ""},
		{"a cycle of three", "a b c a b c a b c", watchdog.Config{}, "7 cycle warning", ""},
		{"a cycle of four", strings.Repeat("a b c d ", 4), watchdog.Config{}, "8 cycle warning", "12 cycle"},
		{"a cycle of four behind other calls", "u! v! w! x! a b c d a b c d a", watchdog.Config{Mode: watchdog.Stop}, "12 cycle warning", ""},
		{"a cycle of five", strings.Repeat("a b c d e ", 3), watchdog.Config{}, "10 cycle warning", "14 cycle"},
		{"what was read is read once more", strings.Repeat("a b c d e f g h i j ", 2), watchdog.Config{Mode: watchdog.Stop, Unchanging: watchdog.Never}, "20 cycle warning", ""},
		{"some of it", "a b c d e f g h i j k l d e f g", watchdog.Config{Mode: watchdog.Stop}, "", ""},
		{"every second call", "a b~ a c~ a d~ a", watchdog.Config{}, "7 unchanging warning", ""},
		{"most calls", "a a b~ a a c~ a a d~ a a", watchdog.Config{}, "7 unchanging warning", ""},
		{"8 of 12", "a a a a b~ a a a a", watchdog.Config{Repeats: watchdog.Never}, "6 unchanging warning", "9 unchanging"},
		{"other arguments and the same result", strings.Repeat("a~ ", 9), watchdog.Config{}, "8 unchanging warning", ""},
		{"a new pattern of the same tool", "a a a a a b b b b b", watchdog.Config{}, "5 repeated-tool-call critical, 10 repeated-tool-call critical", ""},
		{"the pattern comes back late", "a a a a a " + strings.Repeat("w! ", 13) + "a a a a a", watchdog.Config{}, "5 repeated-tool-call critical, 23 repeated-tool-call critical", ""},
		{"same-name is off", strings.Repeat("a~!", 1) + strings.Repeat(" a!", 40), watchdog.Config{}, "", ""},
		{"same-name", strings.Repeat("a! ", 15) + "b! " + strings.Repeat("a! ", 15), watchdog.Config{SameName: 15}, "15 same-name warning, 31 same-name warning", ""},
		{"a round with another tool is not of one name", "a! a!+b! a! a!", watchdog.Config{SameName: 3}, "", ""},
		{"calls without text", strings.Repeat("a! b! ", 20), watchdog.Config{ToolsWithoutText: 25}, "25 tools-without-text warning", ""},
		{"calls with text in between", strings.Repeat("a! b! . ", 20), watchdog.Config{ToolsWithoutText: 25}, "", ""},
		{"a higher threshold", "a a a a a a a", watchdog.Config{Repeats: 7}, "7 repeated-tool-call critical", ""},
		{"stop later", strings.Repeat("a ", 20), watchdog.Config{StopAfter: 10}, "5 repeated-tool-call critical", "15 repeated-tool-call"},
		{"off", strings.Repeat("a ", 20), watchdog.Config{Mode: watchdog.Off}, "", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.cfg.Mode == "" && r.stop != "" {
				r.cfg.Mode = watchdog.Stop
			}
			seen, stop := play(newWatchdog(t, r.cfg), r.steps)
			if got := strings.Join(seen, ", "); got != r.want || stop != r.stop {
				t.Errorf("alerts %q, stop %q; want %q, %q", got, stop, r.want, r.stop)
			}
		})
	}
}

// A loop that is broken off in time is not stopped later for what it did before.
func TestStopNeedsThePatternToGoOn(t *testing.T) {
	t.Parallel()
	seen, stop := play(newWatchdog(t, watchdog.Config{Mode: watchdog.Stop}), "a a a a a a a b! c! d! e! a b! c! a")
	if stop != "" || len(seen) != 1 {
		t.Errorf("alerts %v, stop %q", seen, stop)
	}
}

func TestNoOpsAndFailures(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		response func(i int) map[string]any
		want     string
	}{
		{"no-ops", func(i int) map[string]any { return map[string]any{"no_op": true, "n": changing(i)} }, "3 no-op critical"},
		{"no-ops inside a result", func(i int) map[string]any {
			return map[string]any{"result": map[string]any{"no_op": true, "n": changing(i)}}
		}, "3 no-op critical"},
		{"something done in between", func(i int) map[string]any { return map[string]any{"no_op": i%3 != 0, "n": changing(i)} }, ""},
		{"failures", func(i int) map[string]any { return map[string]any{"error": fmt.Sprint(changing(i))} }, "3 failures warning"},
		{"failures of an MCP server", func(i int) map[string]any { return map[string]any{"isError": true, "n": changing(i)} }, "3 failures warning"},
		{"no failures", func(i int) map[string]any { return map[string]any{"error": "", "n": changing(i)} }, ""},
		{"equal failures are reported again once they are a loop", func(int) map[string]any { return map[string]any{"error": "no"} }, "3 failures warning, 5 repeated-tool-call critical"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newWatchdog(t, watchdog.Config{})
			var seen []string
			for i := range 12 {
				for _, a := range w.Observe(watchdog.Step{Calls: []watchdog.Call{w.Call("", "do", nil, r.response(i))}}).Alerts {
					seen = append(seen, fmt.Sprintf("%d %s %s", i+1, a.Signal, a.Severity))
				}
			}
			if got := strings.Join(seen, ", "); got != r.want {
				t.Errorf("%q, want %q", got, r.want)
			}
		})
	}
}

// Agents that make the same call one after another, as in a sequence, are no loop.
func TestTheSameCallOfManyAgentsIsNoLoop(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, watchdog.Config{})
	for i := range 20 {
		s := watchdog.Step{Branch: "root", Agent: fmt.Sprint(i), Calls: []watchdog.Call{w.Call("", "read_file", nil, map[string]any{"result": "x y z"})}}
		if v := w.Observe(s); len(v.Alerts) > 0 {
			t.Errorf("agent %d: %v", i, v.Alerts)
		}
	}
}

// Branches and invocations are followed by themselves.
func TestLanesAreApart(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, watchdog.Config{})
	call := w.Call("", "read_file", nil, map[string]any{"result": "x y z"})
	for i := range 4 {
		for _, s := range []watchdog.Step{
			{Branch: "a"}, {Branch: "b"}, {Branch: "b", Invocation: "2"},
		} {
			s.Calls = []watchdog.Call{call}
			if v := w.Observe(s); len(v.Alerts) > 0 {
				t.Errorf("%d: %+v: %v", i, s, v.Alerts)
			}
		}
	}
	if n := w.Lanes(); n != 3 {
		t.Errorf("%d lanes, want 3", n)
	}
	w.Forget("2")
	w.Forget("")
	if n := w.Lanes(); n != 0 {
		t.Errorf("%d lanes after all were forgotten", n)
	}
	if v := w.Observe(watchdog.Step{Branch: "a", Calls: []watchdog.Call{call}}); len(v.Alerts) > 0 {
		t.Errorf("a user's message does not begin anew: %v", v.Alerts)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	const advice = "Use what you have, try something else, or say what you cannot do and end your answer.]"
	for _, r := range []struct{ steps, begins string }{
		{"read_file read_file read_file read_file read_file", "[You called read_file 5 times in a row with the same arguments and the same result."},
		{"a b a b a b", "[You made the same 2 calls (a, b) 3 times in a row with the same arguments and the same results."},
		{"a b~ a c~ a d~ a", "[You called a 4 times within 10 calls with the same arguments and the same result."},
		{strings.Repeat("a~ ", 8), "[You called a in 8 answers in a row, and the results said the same again and again."},
	} {
		for _, mode := range []watchdog.Mode{watchdog.Warn, watchdog.Note, watchdog.Stop} {
			w := newWatchdog(t, watchdog.Config{Mode: mode})
			var note string
			for i, word := range strings.Fields(r.steps) {
				tool := strings.TrimRight(word, "~")
				args := map[string]any{}
				if tool != word {
					args["n"] = i
				}
				v := w.Observe(watchdog.Step{Calls: []watchdog.Call{w.Call("", tool, args, map[string]any{"result": "what " + tool + " finds"})}})
				note += v.Note
			}
			if mode == watchdog.Warn {
				if note != "" {
					t.Errorf("mode warn tells the model %q", note)
				}
				continue
			}
			if !strings.HasPrefix(note, r.begins) || !strings.HasSuffix(note, advice) || !notes.Is(notes.WatchdogKey, note) {
				t.Errorf("%s in mode %s: %q, want %q", r.steps, mode, note, r.begins)
			}
		}
	}
}

// Our own notes in a result, and what the app calls volatile, do not make it another one.
func TestResultsAreComparedWithoutWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, watchdog.Config{Volatile: func(tool string, response map[string]any) map[string]any {
		if tool == "panics" {
			panic("a bug of the app")
		}
		out := map[string]any{}
		for key, value := range response {
			if key != "size" {
				out[key] = value
			}
		}
		return out
	}})
	hash := func(tool string, response map[string]any) uint64 { return w.Call("", tool, nil, response).Result.Hash }
	plain := hash("a", map[string]any{"result": "x"})
	for name, response := range map[string]map[string]any{
		"a note":       {"result": "x", notes.ContextKey: "[Context: 83% used.]"},
		"ours":         {"result": "x", notes.WatchdogKey: "[You called a 5 times in a row.]"},
		"a size":       {"result": "x", "size": 17},
		"both of them": {"size": "1 KB", "result": "x", notes.BudgetKey: "[Budget: 80% used.]"},
	} {
		if hash("a", response) != plain {
			t.Errorf("%s makes another result", name)
		}
	}
	if hash("a", map[string]any{"result": "y"}) == plain || hash("a", map[string]any{"result": "x", "more": 1}) == plain {
		t.Error("another result is taken for the same")
	}
	if hash("panics", map[string]any{"size": 1}) == hash("panics", map[string]any{"size": 2}) {
		t.Error("a response is not used as it is where Volatile panics")
	}
}

// Errors name what Go keeps in maps, each time in another order. Results in another order are other results.
func TestErrorsAreComparedByTheirWords(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, watchdog.Config{})
	hash := func(response map[string]any) uint64 { return w.Call("", "a", nil, response).Result.Hash }
	if hash(map[string]any{"error": `unexpected properties ["x" "y"]`}) != hash(map[string]any{"error": `unexpected properties ["y" "x"]`}) {
		t.Error("another order makes another error")
	}
	if hash(map[string]any{"error": "line 7: no x"}) == hash(map[string]any{"error": "line 8: no x"}) {
		t.Error("another error is taken for the same")
	}
	if hash(map[string]any{"result": "x y"}) == hash(map[string]any{"result": "y x"}) {
		t.Error("another result is taken for the same")
	}
}

// A model may call a tool without a name, and does so again and again.
func TestAToolWithoutANameIsNamed(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, watchdog.Config{Mode: watchdog.Stop})
	var texts []string
	for range 5 {
		call := w.Call("", "", nil, map[string]any{"error": "There is no such tool."})
		for _, a := range w.Observe(watchdog.Step{Calls: []watchdog.Call{call}}).Alerts {
			texts = append(texts, a.Text)
		}
	}
	want := []string{"called a tool without a name 3 times in a row, and every call failed.",
		"called a tool without a name 5 times in a row with the same arguments and the same result."}
	if !slices.Equal(texts, want) {
		t.Errorf("%q", texts)
	}
}

func TestArgsAreCanonical(t *testing.T) {
	t.Parallel()
	if got := watchdog.Args(map[string]any{"b": 1, "a": 1.0, "c": []int{2}}); got != `{"a":1,"b":1,"c":[2]}` {
		t.Error(got)
	}
	if watchdog.Args(nil) != watchdog.Args(map[string]any{}) {
		t.Error("no arguments are not as empty ones")
	}
	if watchdog.Args(map[string]any{"path": "main.go"}) == watchdog.Args(map[string]any{"path": "/workspace/main.go"}) {
		t.Error("paths are guessed")
	}
	long := strings.Repeat("x", 1<<20)
	one, two := watchdog.Args(map[string]any{"text": long + "1"}), watchdog.Args(map[string]any{"text": long + "2"})
	if one == two || len(one) > 200 {
		t.Errorf("%.200q and %.200q", one, two)
	}
}

// Whatever a model, a tool or an app hands over is compared, and harms nobody.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	cyclic := map[string]any{"x": 1}
	cyclic["self"] = cyclic
	list := []any{1}
	list[0] = list
	var deep any = "bottom"
	for range 100_000 {
		deep = []any{deep}
	}
	doubled := map[string]any{"x": 1}
	for range 40 {
		doubled = map[string]any{"a": doubled, "b": doubled}
	}
	for name, value := range map[string]any{
		"cyclic": cyclic, "list": list, "deep": deep, "doubled": doubled, "NaN": math.NaN(), "infinity": math.Inf(-1),
		"function": func() {}, "nil map": map[string]any(nil), "no UTF-8": "a\xff", "channel": make(chan int), "huge": strings.Repeat("x", 4<<20),
	} {
		w := newWatchdog(t, watchdog.Config{Mode: watchdog.Stop})
		for i := range 9 {
			v := w.Observe(watchdog.Step{Calls: []watchdog.Call{w.Call("", name+"\x00]\n"+strings.Repeat("é", 500), map[string]any{"v": value}, map[string]any{"v": value})}})
			if (len(v.Alerts) == 1) != (i == 4) || (v.Stop != nil) != (i >= 7 && name != "doubled") {
				t.Errorf("%s, call %d: %+v", name, i, v)
			}
			if v.Note != "" && (!notes.Is(notes.WatchdogKey, v.Note) || strings.ContainsAny(v.Note, "\n\x00")) {
				t.Errorf("%s: the note is %q", name, v.Note)
			}
		}
	}
}

type badSignal struct {
	name    string
	observe func(s watchdog.Step) *watchdog.Alert
}

func (b *badSignal) Name() string                            { return b.name }
func (b *badSignal) Observe(s watchdog.Step) *watchdog.Alert { return b.observe(s) }
func (b *badSignal) Reset()                                  {}

func TestSignalsOfTheApp(t *testing.T) {
	t.Parallel()
	shared := &watchdog.Alert{Severity: watchdog.Critical, Text: "found", Note: strings.Repeat("stop that, ", 300)}
	w := newWatchdog(t, watchdog.Config{Mode: watchdog.Stop, Signals: []func() watchdog.Signal{
		func() watchdog.Signal {
			return &badSignal{"panics", func(watchdog.Step) *watchdog.Alert { panic("a bug of the app") }}
		},
		func() watchdog.Signal {
			return &badSignal{"always", func(watchdog.Step) *watchdog.Alert { return shared }}
		},
	}})
	var seen []string
	for i := range 6 {
		v := w.Observe(watchdog.Step{Branch: "b", Agent: "a", Calls: []watchdog.Call{w.Call("", "x", map[string]any{"i": i}, map[string]any{"i": i})}})
		for _, a := range v.Alerts {
			seen = append(seen, fmt.Sprintf("%d %s on %s: %.40s", i, a.Signal, a.Branch, a.Text))
		}
		if v.Note != "" && !notes.Is(notes.WatchdogKey, v.Note) {
			t.Errorf("a note of %d bytes that nobody recognizes: %.60q", len(v.Note), v.Note)
		}
		if (v.Stop != nil) != (i >= 3) {
			t.Errorf("step %d: stop %v", i, v.Stop)
		}
	}
	want := []string{"0 panics on b: the signal panics panicked, and is left ", "0 always on b: found"}
	if !reflect.DeepEqual(seen, want) || shared.Signal != "" {
		t.Errorf("%q, want %q; the signal's own alert has the name %q", seen, want, shared.Signal)
	}
}

// Two warnings about two things are two, also in a step without tools.
func TestNoWarningHidesAnother(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]*watchdog.Call{"a step without tools": nil, "a step that fails": {Tool: "do", Result: watchdog.Result{Known: true, Error: true}}} {
		w := newWatchdog(t, watchdog.Config{Signals: []func() watchdog.Signal{
			func() watchdog.Signal { return watchdog.ContextGrowth(1_000, 2) },
			func() watchdog.Signal { return watchdog.CostRate(10*tokens.Cent, time.Minute) },
		}})
		seen := map[string]int{}
		for i := range 4 {
			s := watchdog.Step{Text: true, PromptTokens: 1_000 + i*2_000, Cost: 4 * tokens.Cent, Time: time.Unix(1_800_000_000+int64(i), 0)}
			if call != nil {
				c := *call
				c.Args = fmt.Sprint(i)
				s.Calls = append(s.Calls, c)
			}
			for _, a := range w.Observe(s).Alerts {
				seen[a.Signal]++
			}
		}
		if seen["context-growth"] != 1 || seen["cost-rate"] != 1 || seen["failures"] != min(1, seen["failures"]) || (call != nil) != (seen["failures"] == 1) {
			t.Errorf("%s: %v", name, seen)
		}
	}
}

// A signal that panics is left out from then on, so each must be told of, also if several do in one step.
func TestEachSignalThatPanicsIsReported(t *testing.T) {
	t.Parallel()
	panics := func(name string) func() watchdog.Signal {
		return func() watchdog.Signal {
			return &badSignal{name, func(watchdog.Step) *watchdog.Alert { panic("a bug of the app") }}
		}
	}
	w := newWatchdog(t, watchdog.Config{Signals: []func() watchdog.Signal{panics("this"), panics("that")}})
	var told []string
	for _, a := range w.Observe(watchdog.Step{Text: true}).Alerts {
		told = append(told, a.Text)
	}
	if len(told) != 2 || !strings.Contains(told[0], "the signal this panicked") || !strings.Contains(told[1], "the signal that panicked") {
		t.Errorf("%q", told)
	}
}

// A pattern has its name from its signal, and a signal from its kind: neither makes two findings one.
func TestNoWarningHidesAnotherOfTheSameName(t *testing.T) {
	t.Parallel()
	finds := func(name string, a watchdog.Alert) func() watchdog.Signal {
		return func() watchdog.Signal {
			return &badSignal{name, func(watchdog.Step) *watchdog.Alert { return &a }}
		}
	}
	for what, signals := range map[string][]func() watchdog.Signal{
		"one region":          {finds("cost", watchdog.Alert{Pattern: "eu"}), finds("delay", watchdog.Alert{Pattern: "eu"})},
		"one file, two tools": {finds("reads", watchdog.Alert{Tool: "a", Pattern: "go.mod"}), finds("writes", watchdog.Alert{Tool: "b", Pattern: "go.mod"})},
		"one kind":            {finds("cost", watchdog.Alert{}), finds("cost", watchdog.Alert{})},
		"two cost rates": {func() watchdog.Signal { return watchdog.CostRate(tokens.Cent, time.Minute) },
			func() watchdog.Signal { return watchdog.CostRate(2*tokens.Cent, time.Hour) }},
		"two that panic": {func() watchdog.Signal { return &badSignal{"bad", nil} }, func() watchdog.Signal { return &badSignal{"bad", nil} }},
	} {
		w := newWatchdog(t, watchdog.Config{Signals: signals})
		for n := range 3 {
			s := watchdog.Step{Text: true, Cost: 4 * tokens.Cent, Time: time.Unix(1_800_000_000, 0)}
			if n == 2 {
				s.Calls = []watchdog.Call{{Tool: "a"}, {Tool: "b"}}
			}
			if got := w.Observe(s).Alerts; len(got) != 2 && n == 0 || len(got) != 0 && n > 0 {
				t.Errorf("%s, step %d: %+v", what, n, got)
			}
		}
	}
}

// Calls of an earlier step say nothing of what is found in a step without any.
func TestAnEarlierStepAbsorbsNoWarningOfAStepWithoutCalls(t *testing.T) {
	t.Parallel()
	found := func(name string, calls bool) func() watchdog.Signal {
		return func() watchdog.Signal {
			return &badSignal{name, func(s watchdog.Step) *watchdog.Alert {
				if calls != (len(s.Calls) > 0) {
					return nil
				}
				return &watchdog.Alert{Tool: "do", Pattern: name, Text: name}
			}}
		}
	}
	w := newWatchdog(t, watchdog.Config{Signals: []func() watchdog.Signal{found("calls", true), found("words", false)}})
	for _, s := range []watchdog.Step{{Calls: []watchdog.Call{{Tool: "do"}}}, {Text: true}} {
		if got := w.Observe(s).Alerts; len(got) != 1 {
			t.Errorf("%+v: %+v", s, got)
		}
	}
}

// The model is told of the pattern for which it will be stopped.
func TestTheModelIsToldOfTheSurestPattern(t *testing.T) {
	t.Parallel()
	signal := func(name string, severity watchdog.Severity) func() watchdog.Signal {
		return func() watchdog.Signal {
			return &badSignal{name, func(watchdog.Step) *watchdog.Alert {
				return &watchdog.Alert{Severity: severity, Pattern: name, Text: name, Note: "[You did " + name + ".]"}
			}}
		}
	}
	w := newWatchdog(t, watchdog.Config{Mode: watchdog.Stop, Signals: []func() watchdog.Signal{signal("this", watchdog.Warning), signal("that", watchdog.Critical)}})
	if v := w.Observe(watchdog.Step{Calls: []watchdog.Call{{Tool: "a"}}}); !strings.Contains(v.Note, "that") || len(v.Alerts) != 2 {
		t.Errorf("%+v", v)
	}
}

func TestPluggableSignals(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	for _, r := range []struct {
		name   string
		signal watchdog.Signal
		step   func(i int) watchdog.Step
		want   int // the step of the first alert, from 1; 0 for none in 20 steps
	}{
		{"files are touched", watchdog.FilesNotTouched(5), func(i int) watchdog.Step {
			return watchdog.Step{Calls: []watchdog.Call{{Tool: "a"}}, Files: []string{"x"}[:min(1, i%4/3)]}
		}, 0},
		{"no files are touched", watchdog.FilesNotTouched(5), func(int) watchdog.Step {
			return watchdog.Step{Calls: []watchdog.Call{{Tool: "a"}}}
		}, 5},
		{"a slow context", watchdog.ContextGrowth(1_000, 5), func(i int) watchdog.Step { return watchdog.Step{PromptTokens: 1_000 + i*1_000} }, 0},
		{"a fast context", watchdog.ContextGrowth(1_000, 5), func(i int) watchdog.Step { return watchdog.Step{PromptTokens: 1_000 + i*1_001} }, 6},
		{"a context that is compacted", watchdog.ContextGrowth(1_000, 5), func(i int) watchdog.Step { return watchdog.Step{PromptTokens: 1_000 + i%5*9_000} }, 0},
		{"an unknown context", watchdog.ContextGrowth(1_000, 5), func(int) watchdog.Step { return watchdog.Step{} }, 0},
		{"a low cost", watchdog.CostRate(10*tokens.Cent, time.Minute), func(i int) watchdog.Step {
			return watchdog.Step{Cost: 2 * tokens.Cent, Time: start.Add(time.Duration(i) * 15 * time.Second)}
		}, 0},
		{"a high cost", watchdog.CostRate(10*tokens.Cent, time.Minute), func(i int) watchdog.Step {
			return watchdog.Step{Cost: 2 * tokens.Cent, Time: start.Add(time.Duration(i) * 5 * time.Second)}
		}, 6},
		{"a clock that goes back", watchdog.CostRate(10*tokens.Cent, time.Minute), func(i int) watchdog.Step {
			return watchdog.Step{Cost: 2 * tokens.Cent, Time: start.Add(-time.Duration(i) * time.Hour)}
		}, 0},
		{"no times", watchdog.CostRate(1, time.Minute), func(int) watchdog.Step { return watchdog.Step{Cost: tokens.Dollar} }, 0},
		{"a threshold of 1 is one of 2", watchdog.RepeatedToolCall(1), func(int) watchdog.Step {
			return watchdog.Step{Calls: []watchdog.Call{{Tool: "a"}}}
		}, 2},
		{"no calls", watchdog.Cycle(2), func(int) watchdog.Step { return watchdog.Step{Text: true} }, 0},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second time after a Reset
				first := 0
				for i := range 20 {
					if a := r.signal.Observe(r.step(i)); a != nil && first == 0 {
						if first = i + 1; a.Text == "" || a.Severity == watchdog.Critical {
							t.Errorf("%+v", a)
						}
					}
				}
				if first != r.want {
					t.Errorf("the first alert is at step %d, want %d", first, r.want)
				}
				r.signal.Reset()
			}
		})
	}
}

func TestRefusedValues(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		cfg  watchdog.Config
		want string
	}{
		{watchdog.Config{Repeats: 1}, "Repeats is 1: every first call would be a loop; use 2 or more, or 0 for 5"},
		{watchdog.Config{Laps: -2}, "Laps is -2: it must not be negative; 0 is 3, and Never (-1) turns it off"},
		{watchdog.Config{Unchanging: 13}, "Unchanging is 13: it can be 12 at most; 0 is 8"},
		{watchdog.Config{SameName: 1}, "SameName is 1: every first call would be a loop; use 2 or more, or 0 for never"},
		{watchdog.Config{NoOps: 1}, "NoOps is 1"},
		{watchdog.Config{Failures: 1}, "Failures is 1"},
		{watchdog.Config{ToolsWithoutText: math.MaxInt}, "ToolsWithoutText is 9223372036854775807: it can be 1000000 at most"},
		{watchdog.Config{Mode: "auto"}, `Mode is "auto": there are warn, note, stop and off`},
		{watchdog.Config{Mode: watchdog.Stop, CallsAlone: true}, "CallsAlone is true: in mode stop calls count only if their results are alike"},
		{watchdog.Config{StopAfter: -1}, "StopAfter is -1"},
		{watchdog.Config{Polling: []string{"wait", ""}}, `Polling is "": name a tool`},
		{watchdog.Config{Signals: []func() watchdog.Signal{nil}}, "Signals is nil: a function is nil"},
		{watchdog.Config{Signals: []func() watchdog.Signal{func() watchdog.Signal { return nil }}}, "a function returns nil"},
		{watchdog.Config{Signals: []func() watchdog.Signal{func() watchdog.Signal { panic("boom") }}}, "panics"},
		{watchdog.Config{Repeats: 1, Laps: 1}, "Laps is 1"},
	} {
		_, err := watchdog.New(r.cfg)
		var refused *compaction.ConfigError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%v, want %q", err, r.want)
		}
	}
	if _, err := watchdog.New(watchdog.Config{Repeats: 2, Laps: 2, Unchanging: 2, NoOps: watchdog.Never, Failures: 2, SameName: 2, ToolsWithoutText: 2}); err != nil {
		t.Error(err)
	}
}

// A lane is a few hundred bytes, however long it runs, and a step without a pattern allocates nothing.
func TestAStepAllocatesNothing(t *testing.T) {
	w := newWatchdog(t, watchdog.Config{})
	steps := make([]watchdog.Step, 100)
	for i := range steps {
		steps[i] = watchdog.Step{Branch: "root", Agent: "agent", Calls: []watchdog.Call{w.Call("", "read", map[string]any{"n": i}, map[string]any{"n": i})}}
	}
	i := 0
	observe := func() {
		if v := w.Observe(steps[i%len(steps)]); v.Alerts != nil {
			t.Error(v.Alerts)
		}
		i++
	}
	if n := testing.AllocsPerRun(1_000, observe); n > 0 {
		t.Errorf("%v allocations for a step", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	w := newWatchdog(b, watchdog.Config{})
	args, response := map[string]any{"path": "main.go", "line": 17}, map[string]any{"result": strings.Repeat("a line of code\n", 400)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		response["n"] = changing(i)
		w.Observe(watchdog.Step{Branch: "root", Agent: "agent", Calls: []watchdog.Call{w.Call("", "read_file", args, response)}})
	}
}

// Lanes whose end nobody reports do not pile up.
func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWatchdog(t, watchdog.Config{})
	for i := range 5_000 {
		w.Observe(watchdog.Step{Branch: fmt.Sprint(i)})
	}
	if n := w.Lanes(); n != 1_024 {
		t.Errorf("%d lanes", n)
	}
}
