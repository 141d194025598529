package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestTheWalkHoldsItsCeilingAndEndsItsLoop(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-calls", fmt.Sprint(fewest)}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q, stdout:\n%s", code, stderr.String(), stdout.String())
	}
	out := strings.TrimSpace(stdout.String())
	lines := strings.Split(out, "\n")
	last := lines[len(lines)-1]
	var calls, tasks int
	var dollars float64
	if _, err := fmt.Sscanf(last, "longrun ok: %d calls, $%f, %d tasks, 1 loop, 1 ceiling", &calls, &dollars, &tasks); err != nil {
		t.Fatalf("last line %q: %v", last, err)
	}
	if calls < fewest || calls > fewest+20 || tasks < 8 || dollars < 0.5 {
		t.Errorf("last line %q", last)
	}
	for _, part := range []string{
		fmt.Sprintf("watchdog: stopped task %d, a loop", loopTask+1), "ceiling reached: ", "started again: refused, no model call", "reset: ",
		"Context-management activity:", "  Subtasks: ", "Models:       " + large,
	} {
		if strings.Count(out, part) != 1 {
			t.Errorf("%q is not there once:\n%s", part, out)
		}
	}
	before, report, _ := strings.Cut(out, "Context-management activity:")
	_, behind, _ := strings.Cut(report, "\n\n")
	for line := range strings.Lines(before + behind) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > columns {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
}

// The check notices what it is there for.
func TestTheCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := func() (*walk, guard.Usage) {
		w := &walk{task: 9, right: 9, loops: 1, failed: 3, refused: true, spent: 70}
		w.provider.calls, w.provider.bill = 90, 70
		return w, guard.Usage{ModelCalls: 90, USD: 70, Subtasks: guard.SubtaskUsage{Count: 9}}
	}
	if w, usage := good(); w.check(usage) != nil {
		t.Fatal(w.check(usage))
	}
	for want, spoil := range map[string]func(*walk, *guard.Usage){
		"the guard counts 89 calls, and the provider got 90":             func(_ *walk, u *guard.Usage) { u.ModelCalls-- },
		"the guard counts 71 nano-dollars, and the bill has 70":          func(_ *walk, u *guard.Usage) { u.USD++ },
		"add up to 69 nano-dollars, and the bill to 70":                  func(w *walk, _ *guard.Usage) { w.spent-- },
		"models without a price: [x]":                                    func(_ *walk, u *guard.Usage) { u.Unpriced = []string{"x"} },
		"9 tasks, and 8 subtasks":                                        func(_ *walk, u *guard.Usage) { u.Subtasks.Count-- },
		"0 turns were stopped by the watchdog, and one loop was planted": func(w *walk, _ *guard.Usage) { w.loops = 0 },
		"the ceiling was never refused":                                  func(w *walk, _ *guard.Usage) { w.refused = false },
		"8 of 9 tasks have the right answer":                             func(w *walk, _ *guard.Usage) { w.right-- },
		"2 results are errors":                                           func(w *walk, _ *guard.Usage) { w.failed-- },
		"1 prompts do not fit":                                           func(w *walk, _ *guard.Usage) { w.provider.over++ },
	} {
		w, usage := good()
		spoil(w, &usage)
		if err := w.check(usage); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// The file of a walk that was not well is not reported as such.
func TestADamagedFileIsNoticed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &walk{file: filepath.Join(t.TempDir(), "gone.db"), out: &out}
	if err := w.finish(t.Context()); err == nil || strings.Contains(out.String(), "longrun ok") {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

func TestPricesAreWholeNanoDollars(t *testing.T) {
	t.Parallel()
	registry, err := prices()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]tokens.Nano{large: 11_250, small: 500} {
		m, ok := registry.Lookup(name)
		if got := m.Nanos(tokens.Usage{PromptTokens: 1, OutputTokens: 1}); !ok || got != want {
			t.Errorf("%s: %d nano-dollars for two tokens, want %d", name, got, want)
		}
	}
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-calls", "3"}, 2, "-calls is 3"},
		{[]string{"-calls", "99999"}, 2, "to 2000"},
		{[]string{"-file", "longrun_test.go"}, 2, "exists"},
		{[]string{"-help"}, 0, "-calls"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", tt.args, code, stdout.String(), stderr.String())
		}
	}
}
