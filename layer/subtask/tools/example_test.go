package tools_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/adk/agent/llmagent"

	"github.com/adk-go-ext/longsession/layer/subtask/tools"
)

func Example() {
	dir, err := os.MkdirTemp("", "checkout")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	files, err := tools.NewFiles(tools.FilesConfig{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	fetch, err := tools.NewFetch(tools.FetchConfig{})
	if err != nil {
		log.Fatal(err)
	}
	explorer, err := llmagent.New(llmagent.Config{
		Name:  "explorer",
		Tools: append(files.Tools(), fetch),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(explorer.Name())

	// A model calls the tools with these arguments, and gets these results.
	ctx := context.Background()
	for _, c := range []struct {
		tool int
		args map[string]any
	}{
		{0, map[string]any{"path": "main.go", "limit": 1}},
		{0, map[string]any{"path": "../../etc/passwd"}},
		{0, map[string]any{"path": "Main.go2"}},
		{3, map[string]any{"pattern": "func"}},
	} {
		result, err := run(ctx, files.Tools()[c.tool], c.args)
		if err != nil {
			log.Fatal(err)
		}
		for _, field := range []string{"content", "matches", "error"} {
			if result[field] != nil {
				fmt.Printf("%s: %q\n", field, result[field])
			}
		}
	}
	result, err := run(ctx, fetch, map[string]any{"url": "http://169.254.169.254/latest/meta-data/"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result["error"])
	// Output:
	// explorer
	// content: "1\tpackage main\n"
	// error: "\"../../etc/passwd\" leads out of the root; paths are relative to the root, which is \".\""
	// error: "no such file: \"Main.go2\"; nearest: \"main.go\""
	// matches: "main.go:3:func main() {}\n"
	// "169.254.169.254" is not a public address; only public addresses are fetched
}

func TestConfigsThatCannotWorkAreRefusedByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	_, err := tools.NewFiles(tools.FilesConfig{ReadLines: -1, ResultBytes: 10, LineBytes: -1, FileBytes: -1, GrepBytes: -1, Matches: -1, Listed: -1, Depth: -1, Entries: -1, Timeout: -1, Skip: []string{"a/b"}})
	for _, part := range []string{
		`Root is "": name the folder`, "ReadLines is -1: it must not be negative; 0 is 2000", "ResultBytes is 10: it must be at least 1024", "LineBytes is -1",
		"FileBytes is -1", "GrepBytes is -1", "Matches is -1", "Listed is -1", "Depth is -1", "Entries is -1", "Timeout is -1ns: it must not be negative; 0 is 30s", `Skip is "a/b": use the name of a folder`,
	} {
		want(t, "the error", fmt.Sprint(err), part)
	}
	var refused *tools.ConfigError
	if !errors.As(err, &refused) || refused.Field != "Root" {
		t.Errorf("%#v", refused)
	}
	for root, part := range map[string]string{filepath.Join(dir, "gone"): "no such file", filepath.Join(dir, "file"): "it is not a folder"} {
		_, err := tools.NewFiles(tools.FilesConfig{Root: root})
		want(t, root, fmt.Sprint(err), part)
	}
	_, err = tools.NewFetch(tools.FetchConfig{Timeout: -1, MaxBytes: -1, ResultBytes: 1, Redirects: -2, Ports: []uint16{}})
	for _, part := range []string{"Timeout is -1ns: it must not be negative; 0 is 10s", "MaxBytes is -1", "ResultBytes is 1: it must be at least", "Redirects is -2", "Ports is []: name ports"} {
		want(t, "the error", fmt.Sprint(err), part)
	}
}
