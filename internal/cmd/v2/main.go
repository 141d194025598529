// Command v2 writes the library for ADK v2 into a folder, from the same source as that for ADK v1:
//
//	go run ./internal/cmd/v2 DIR
//
// The folder, which is missing or empty, gets every file that git tracks in the working copy, with these differences and
// no other:
//
//   - Paths: the module of ADK, and this one, end in /v2 wherever a text names them. An address such as that of a clone
//     stays, and so does a module with a version of the first major behind an @.
//   - Names: ToolContext and CallbackContext of package agent are Context, NewEventWithContext of session is NewEvent.
//   - Imports are in the order that gofmt wants.
//   - Modules: go.mod and go.work have the versions of one table (see modules.go), go.sum and go.work.sum what these need.
//   - Files by major: v1.go and files that end in _v1.go or _v1_test.go are for ADK v1, and left out. Files that end in
//     _v2.go or _v2_test.go are for ADK v2: they begin with "//go:build ignore", which keeps them out of the build for
//     ADK v1, and lose that line.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/cmd/v2 DIR")
		os.Exit(2)
	}
	if err := run(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "v2:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	if err := write(from, to); err != nil {
		return err
	}
	return tidy(to)
}
