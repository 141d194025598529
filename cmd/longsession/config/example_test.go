package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// An app that has a file of settings needs no code for them.
func Example() {
	folder, err := os.MkdirTemp("", "settings")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "longsession.toml")
	text := "[compaction]\nthreshold = 0.5\n\n[agent]\nmax_turn_cost_usd = 0.5\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	back, err := os.Getwd()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Chdir(back)
	if err := os.Chdir(folder); err != nil {
		fmt.Println(err)
		return
	}
	if err := newStack(session.InMemoryService(), compactiontest.NewModel("gemini-2.5-pro", nil)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// compaction begins at 0.5 of the window, and a turn costs at most $0.5000
}

func newStack(sessions session.Service, llm model.LLM) error {
	cfg, err := config.Load("longsession.toml", llm)
	if err != nil {
		return err
	}
	stack, err := longsession.New(sessions, cfg)
	if err != nil {
		return err
	}
	fmt.Printf("compaction begins at %v of the window, and a turn costs at most %v\n", cfg.Compaction.SafetyRatio, cfg.Guard.Turn.USD)
	return stack.Close(context.Background())
}

// Each mistake has its place, and the nearest key.
func ExampleParse() {
	_, err := config.Parse("longsession.toml", []byte("[compaction]\nthresold = 0.7\n"))
	fmt.Println(err)
	// Output:
	// longsession.toml:2:1: compaction.thresold: there is no such key (did you mean compaction.threshold?)
}
