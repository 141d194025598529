package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/replaycmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/command.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestManualNamesEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	text, flags := manual(t), 0
	eachCommand(rootCommand(replay.Compare), func(c *cobra.Command) {
		if !strings.Contains(text, c.Name()) {
			t.Errorf("docs/command.md lacks the command %q", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			flags++
			if !strings.Contains(text, "`--"+f.Name+"`") && !strings.Contains(text, "`--"+f.Name+" ") {
				t.Errorf("docs/command.md lacks --%s of %q", f.Name, c.CommandPath())
			}
		})
	})
	if flags < 25 {
		t.Errorf("%d flags found only: the test looks in the wrong place", flags)
	}
}

// manualFlag is a flag as the manual writes it, and not a part of a word.
var manualFlag = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-z0-9-]*)`)

// TestManualNamesNoOtherFlags takes each flag for one of some command. In a line that calls a command, it must be one of
// that command.
func TestManualNamesNoOtherFlags(t *testing.T) {
	t.Parallel()
	all, seen, calls := map[string]bool{"version": true}, 0, 0
	of := map[string]map[string]bool{} // by the path of a command
	eachCommand(rootCommand(replay.Compare), func(c *cobra.Command) {
		of[c.CommandPath()] = map[string]bool{}
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { of[c.CommandPath()][f.Name], all[f.Name] = true, true })
	})
	for i, line := range strings.Split(manual(t), "\n") {
		flags, called := all, ""
		for path := range of {
			if strings.Contains(path, " ") && strings.HasPrefix(line, path+" ") && len(path) > len(called) {
				flags, called = of[path], path
			}
		}
		if called != "" {
			calls++
		}
		for _, found := range manualFlag.FindAllStringSubmatch(line, -1) {
			seen++
			if !flags[found[1]] {
				t.Errorf("docs/command.md:%d: %s has no flag --%s", i+1, cmp.Or(called, "longsession"), found[1])
			}
		}
	}
	if seen < 100 || calls < 20 {
		t.Errorf("%d flags and %d calls found only: the test looks in the wrong place", seen, calls)
	}
}

func TestManualAndHelpNameEveryExitCode(t *testing.T) {
	t.Parallel()
	text := manual(t)
	for _, code := range []int{exit.CodeOK, exit.CodeFindings, exit.CodeUsage, exit.CodeFailed, exit.CodeInterrupted} {
		if !strings.Contains(text, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/command.md lacks exit code %d", code)
		}
		for _, help := range []string{rootHelp, replaycmd.Command("", replay.Compare).Long} {
			if !strings.Contains(help, fmt.Sprintf("\n  %-4d ", code)) {
				t.Errorf("a help text lacks exit code %d:\n%s", code, help)
			}
		}
	}
}

func TestHelpFitsIntoATerminal(t *testing.T) {
	t.Parallel()
	pages := 0
	eachCommand(rootCommand(replay.Compare), func(c *cobra.Command) {
		pages++
		var help bytes.Buffer
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(help.String()) {
			if n := uniseg.StringWidth(strings.TrimSpace(line)); n > terminal.LineWidth {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
	if pages < 4 {
		t.Errorf("%d pages found only: the test looks in the wrong place", pages)
	}
}
