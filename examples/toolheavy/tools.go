package main

import (
	"errors"
	"fmt"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
)

type (
	pathArgs struct {
		Path string `json:"path"`
	}
	listing struct {
		Files []any `json:"files"`
	}
	output struct {
		Output string `json:"output"`
	}
	testOutput struct {
		Output   string `json:"output"`
		ExitCode int    `json:"exit_code"`
	}
)

// tools returns ordinary ADK function tools over the tree. None of them limits its results.
func (t tree) tools() ([]tool.Tool, error) {
	list, err1 := functiontool.New(functiontool.Config{Name: "list_files", Description: "lists the files of a package"},
		func(_ agent.ToolContext, args pathArgs) (listing, error) { return listing{t.list(args.Path)}, nil })
	read, err2 := functiontool.New(functiontool.Config{Name: "read_file", Description: "returns a file"},
		func(_ agent.ToolContext, args pathArgs) (output, error) {
			text, found := t[args.Path]
			if !found {
				return output{}, fmt.Errorf("no file %q", args.Path)
			}
			return output{text}, nil
		})
	test, err3 := functiontool.New(functiontool.Config{Name: "run_tests", Description: "runs the tests of a package"},
		func(_ agent.ToolContext, args pathArgs) (testOutput, error) {
			return testOutput{t.test(args.Path), 1}, nil
		})
	return []tool.Tool{list, read, test}, errors.Join(err1, err2, err3)
}
