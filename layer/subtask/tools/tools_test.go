package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/layer/subtask/tools"
)

// toolContext is as much of a tool's context as these tools use.
type toolContext struct {
	agent.ToolContext
	ctx context.Context
}

func (c toolContext) Deadline() (time.Time, bool)                        { return c.ctx.Deadline() }
func (c toolContext) Done() <-chan struct{}                              { return c.ctx.Done() }
func (c toolContext) Err() error                                         { return c.ctx.Err() }
func (c toolContext) Value(key any) any                                  { return c.ctx.Value(key) }
func (toolContext) ToolConfirmation() *toolconfirmation.ToolConfirmation { return nil }

// run calls a tool as ADK does.
func run(ctx context.Context, tl tool.Tool, args map[string]any) (map[string]any, error) {
	return tl.(interface {
		Run(agent.ToolContext, any) (map[string]any, error)
	}).Run(toolContext{ctx: ctx}, args)
}

// call returns the result of a tool by field. A Go error fails the test.
func call(t *testing.T, ctx context.Context, tl tool.Tool, args map[string]any) map[string]any {
	t.Helper()
	result, err := run(ctx, tl, args)
	if err != nil {
		t.Fatalf("%s(%v): %v", tl.Name(), args, err)
	}
	return result
}

func text(result map[string]any, field string) string {
	s, _ := result[field].(string)
	return s
}

func number(result map[string]any, field string) int {
	n, _ := result[field].(float64)
	return int(n)
}

func list(t *testing.T, result map[string]any, field string) string {
	t.Helper()
	data, err := json.Marshal(result[field])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tree writes files into a new folder and opens the tools over it.
func tree(t *testing.T, cfg tools.FilesConfig, files map[string]string) (dir string, by map[string]tool.Tool) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	cfg.Root = dir
	set, err := tools.NewFiles(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	by = map[string]tool.Tool{}
	for _, tl := range set.Tools() {
		by[tl.Name()] = tl
	}
	return dir, by
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, what, got, part string) {
	t.Helper()
	if !strings.Contains(got, part) {
		t.Errorf("%s is %q, want it to contain %q", what, got, part)
	}
}

// A model that asks for too much gets an answer, and nobody has to watch the clock.
func TestNoCallTakesLongerThanItsTimeout(t *testing.T) {
	t.Parallel()
	_, by := tree(t, tools.FilesConfig{Timeout: time.Nanosecond}, map[string]string{"a.txt": "found\n"})
	for name, field := range map[string]string{"read_file": "error", "list_dir": "error", "glob": "note", "grep": "note"} {
		args := map[string]any{"path": "a.txt"}
		switch name {
		case "list_dir":
			args = map[string]any{}
		case "glob":
			args = map[string]any{"pattern": "*"}
		case "grep":
			args["pattern"] = "f.*"
		}
		want(t, name, text(call(t, t.Context(), by[name], args), field), "1ns")
	}
}
