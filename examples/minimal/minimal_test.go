package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What the README says of the example is what it prints, in every run.
func TestTheFirstRunShowsASmallerPromptAndTheSummary(t *testing.T) {
	t.Parallel()
	if os.Getenv("MINIMAL") == "run" {
		main()
		return
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTheFirstRunShowsASmallerPromptAndTheSummary$")
		cmd.Env = append(os.Environ(), "MINIMAL=run")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		printed, _, _ := strings.Cut(string(out), "PASS")
		if err != nil || stderr.Len() > 0 || strings.Count(printed, "\n") != 2 {
			t.Fatalf("%v, stderr %q, stdout:\n%s", err, stderr.String(), out)
		}
		if !strings.Contains(string(readme), printed) {
			t.Errorf("README.md lacks what the example prints:\n%s", printed)
		}
	}
}

func TestTheExampleIsShortEnoughToRead(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(source), "\n"); lines >= 60 {
		t.Errorf("main.go has %d lines: it is read by newcomers, and stays under 60", lines)
	}
}
