package agentsmd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

// A Loader merges the AGENTS.md files from the root of the project down to the working directory.
func ExampleLoader() {
	root, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(root) }()
	workDir := filepath.Join(root, "billing")
	err = errors.Join(
		os.Mkdir(workDir, 0o777),
		os.WriteFile(filepath.Join(root, "go.mod"), []byte("module shop\n"), 0o666),
		os.WriteFile(filepath.Join(root, "AGENTS.md"), []byte("Prices are in cents.\n"), 0o666),
		os.WriteFile(filepath.Join(workDir, "AGENTS.md"), []byte("Run `make db` before the tests.\n"), 0o666),
	)
	if err != nil {
		fmt.Println(err)
		return
	}

	loader := agentsmd.NewLoader(workDir)
	loader.Global = "" // no file of the user
	result, err := loader.Load()
	_, frames, _ := strings.Cut(result.Merged, "\n")
	fmt.Println(result.NumSources, result.Truncated, err)
	fmt.Println(frames)
	// Output:
	// 2 false <nil>
	// <agents_md path="AGENTS.md">
	// Prices are in cents.
	// </agents_md>
	// <agents_md path="billing/AGENTS.md">
	// Run `make db` before the tests.
	// </agents_md>
}

// A program that works on projects of others asks before it reads their files.
func ExampleLoader_trust() {
	workDir, trusted := ".", map[string]bool{}

	loader := agentsmd.NewLoader(workDir)
	loader.Trust = func(root string) bool {
		return trusted[root] // ask the user once, show the files, and remember the answer
	}
	loader.Global = "" // not the home directory of the user
	fmt.Println(printLoaded(loader))
	// Output: <nil>
}

// printLoaded prints which files the model reads.
func printLoaded(loader *agentsmd.Loader) error {
	result, err := loader.Load()
	if err != nil {
		return err // the working directory cannot be read
	}
	for _, source := range result.Sources {
		fmt.Printf("%s: %d bytes loaded, %d cut\n", source.Path, source.Bytes, source.Cut)
		if source.Err != nil {
			fmt.Println(" ", source.Err)
		}
	}
	return nil
}
