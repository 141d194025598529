package toolresult_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

func newCutter(t testing.TB, cfg toolresult.Config) *toolresult.Cutter {
	t.Helper()
	c, err := toolresult.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// numbered returns a text of n lines.
func numbered(n int) string {
	var text strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func TestALongTextKeepsItsFirstAndLastLines(t *testing.T) {
	t.Parallel()
	c := newCutter(t, toolresult.Config{})
	got, cut, changed := c.Response("shell", map[string]any{"output": numbered(10_000)})
	if !changed {
		t.Fatal("10,000 lines are left whole")
	}
	lines := strings.Split(got["output"].(string), "\n")
	if len(lines) != 257 || lines[0] != "line 1" || lines[127] != "line 128" || lines[128] != "[... omitted 9,744 of 10,000 lines ...]" ||
		lines[129] != "line 9873" || lines[256] != "line 10000" {
		t.Errorf("%d lines:\n%s", len(lines), got["output"])
	}
	if cut.Kind != toolresult.Shortened || cut.LinesBefore != 10_000 || cut.LinesAfter != 257 || cut.BytesBefore != len(`{"output":""}`)+len(numbered(10_000))+9999 {
		t.Errorf("%+v", cut)
	}
}

// What recall has found is left whole: a search whose answer is a reference has found nothing. Limits of the app for it
// hold, and so do those of every tool for what is not such an answer: one of a tool of the app's of that name, or too much.
func TestWhatRecallHasFoundIsLeftWhole(t *testing.T) {
	t.Parallel()
	found := func(n int) map[string]any {
		return map[string]any{"passages": strings.Repeat("[turn 1, user, m1] Where is it?\n", n), "turns": []int{1}}
	}
	with := found(600)
	with["more"] = true
	all := toolresult.Config{Readable: true}
	own := toolresult.Config{Readable: true, PerTool: map[string]toolresult.Limits{"recall": {MaxBytes: 2_000}}}
	for name, row := range map[string]struct {
		cfg      toolresult.Config
		tool     string
		response map[string]any
		want     bool // shortened
	}{
		"recall":                          {all, "recall", found(600), false},
		"recall_turn":                     {all, "recall_turn", found(600), false},
		"as another backend returns it":   {all, "recall", map[string]any{"passages": found(600)["passages"], "turns": []any{1.0}}, false},
		"limits of the app":               {own, "recall", found(600), true},
		"more than an answer of ours has": {all, "recall", found(6_000), true},
		"another tool":                    {all, "grep", found(600), true},
		"a recall of the app's":           {all, "recall", map[string]any{"passages": found(600)["passages"]}, true},
		"one that returns more":           {all, "recall", with, true},
	} {
		if _, _, got := newCutter(t, row.cfg).Response(row.tool, row.response); got != row.want {
			t.Errorf("%s: shortened %v, want %v", name, got, row.want)
		}
	}
}
