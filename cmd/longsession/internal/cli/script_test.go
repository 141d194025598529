package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"longsession": func() {
			os.Exit(Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs the scripts, which are the manual by example. $SAMPLE has three short conversations, and $SHIPPED is
// the sample that the project ships: these, and a long one. "exits CODE longsession ..." runs exec and expects that exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	if testkit.Race && testing.Short() {
		t.Skip("450 processes under the race detector take minutes, and other tests run the commands in this one")
	}
	files := map[string]string{"SAMPLE": sample, "SHIPPED": "../../testdata/sample.jsonl"}
	for name, file := range files {
		var err error
		if files[name], err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for name, file := range files {
				env.Setenv(name, file)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
