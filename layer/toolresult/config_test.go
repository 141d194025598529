package toolresult_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

func TestDefaultLimitsAreThoseOfTheZeroValue(t *testing.T) {
	t.Parallel()
	for _, readable := range []bool{false, true} {
		zero, err := toolresult.New(toolresult.Config{Readable: readable})
		if err != nil {
			t.Fatal(err)
		}
		written, err := toolresult.New(toolresult.Config{Limits: toolresult.DefaultLimits(), Readable: readable})
		if err != nil {
			t.Fatal(err)
		}
		shortened := 0
		for _, text := range []string{"short", strings.Repeat("a line\n", 300), strings.Repeat("x", 5000), strings.Repeat("x ", 9000)} {
			response := map[string]any{"output": text}
			want, cut, changed := zero.Response("t", response)
			got, otherCut, otherChanged := written.Response("t", response)
			if !reflect.DeepEqual(got, want) || cut != otherCut || changed != otherChanged {
				t.Errorf("readable %v, %d bytes: %v, want %v", readable, len(text), otherCut, cut)
			}
			if changed {
				shortened++
			}
		}
		if shortened < 2 {
			t.Errorf("readable %v: %d results are shortened: the test looks in the wrong place", readable, shortened)
		}
	}
}

func TestLimitsThatContradictEachOtherAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	type limits = toolresult.Limits
	for _, r := range []struct {
		name string
		cfg  toolresult.Config
		says []string
	}{
		{"negative", toolresult.Config{Limits: limits{MaxBytes: -2, MaxLines: -3, HeadLines: -4, TailLines: -5, MaxTokens: -6, StubAbove: -7}}, []string{"MaxBytes is -2", "MaxLines is -3", "HeadLines is -4", "TailLines is -5", "MaxTokens is -6", "StubAbove is -7", "Off (-1)"}},
		{"no room for a reference", toolresult.Config{Readable: true, Limits: limits{MaxBytes: 63, MaxTokens: 31}}, []string{"MaxBytes is 63", "64", "MaxTokens is 31", "32"}},
		{"no room for JSON", toolresult.Config{Limits: limits{MaxBytes: 1}}, []string{"MaxBytes is 1", "at least 2"}},
		{"too many lines", toolresult.Config{Limits: limits{MaxLines: 10, HeadLines: 6, TailLines: 5}}, []string{"HeadLines is 6", "TailLines 5", "MaxLines 10"}},
		{"more lines at one end than in all", toolresult.Config{Limits: limits{HeadLines: 300}}, []string{"HeadLines is 300", "MaxLines 256"}},
		{"no lines", toolresult.Config{Limits: limits{HeadLines: toolresult.Off, TailLines: toolresult.Off}}, []string{"HeadLines is -1", "TailLines Off"}},
		{"stubs beyond the cut", toolresult.Config{Limits: limits{MaxBytes: 1000, StubAbove: 2000}}, []string{"StubAbove is 2000", "MaxBytes 1000"}},
		{"unknown strategy", toolresult.Config{Limits: limits{Strategy: "middle"}}, []string{`Strategy is "middle"`, "lines, head, tail or both"}},
		{"no name", toolresult.Config{Exempt: []string{""}, PerTool: map[string]limits{"": {}}}, []string{`Exempt is ""`, `PerTool is ""`}},
		{"for one tool", toolresult.Config{PerTool: map[string]limits{"grep": {MaxLines: -2}}}, []string{`PerTool["grep"].MaxLines is -2`}},
		{"for one tool, with all", toolresult.Config{Limits: limits{TailLines: 20}, PerTool: map[string]limits{"grep": {MaxLines: 30, HeadLines: 20}}}, nil},
		{"limits of an exempt tool", toolresult.Config{Exempt: []string{"a"}, PerTool: map[string]limits{"a": {}, "exit_loop": {}, "read_result": {}}}, []string{`PerTool["a"]`, `PerTool["exit_loop"]`, `PerTool["read_result"]`}},
	} {
		_, err := toolresult.New(r.cfg)
		if (err == nil) != (r.says == nil) {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		var refused *toolresult.ConfigError
		if err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: %T", r.name, err)
		}
		for _, want := range r.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error lacks %q:\n%v", r.name, want, err)
			}
		}
	}
}

func TestLimitsOfAToolTakeTheRestFromTheConfig(t *testing.T) {
	t.Parallel()
	c := newCutter(t, toolresult.Config{
		Limits:  toolresult.Limits{MaxLines: 20, Strategy: toolresult.Tail},
		PerTool: map[string]toolresult.Limits{"grep": {MaxLines: 4, Strategy: toolresult.Lines}, "log": {MaxLines: 2}, "cat": {MaxLines: toolresult.Off, MaxBytes: 300, Strategy: toolresult.Head}},
	})
	text := numbered(100)
	for tool, want := range map[string]string{
		"grep": "line 1\nline 2\n[... omitted 96 of 100 lines ...]\nline 99\nline 100",
		"log":  "[truncated: kept last ~8 of ~410 tokens (tail)]\nline 99\nline 100",
		"cat":  numbered(26) + "\n[truncated: kept first ~100 of ~410 tokens (head)]",
	} {
		got, _, _ := c.Response(tool, map[string]any{"output": text})
		if got["output"] != want {
			t.Errorf("%s: %q, want %q", tool, got["output"], want)
		}
	}
}

func TestALimitThatIsOffDoesNotHold(t *testing.T) {
	t.Parallel()
	off := toolresult.Limits{MaxBytes: toolresult.Off, MaxLines: toolresult.Off, MaxTokens: toolresult.Off, StubAbove: toolresult.Off}
	response := map[string]any{"output": numbered(50_000), "list": make([]any, 30_000)}
	for _, readable := range []bool{false, true} {
		c := newCutter(t, toolresult.Config{Limits: off, Readable: readable})
		if _, _, changed := c.Response("t", response); changed {
			t.Error("without limits a result is cut")
		}
	}
	byLines := off
	byLines.MaxLines = 0
	got, _, _ := newCutter(t, toolresult.Config{Limits: byLines}).Response("t", map[string]any{"output": strings.Repeat(strings.Repeat("x", 200)+"\n", 300)})
	if text := got["output"].(string); len(text) < 256*200 || !strings.Contains(text, "[... omitted 44 of 300 lines ...]") {
		t.Errorf("%d bytes are left of 256 lines", len(text))
	}
}
