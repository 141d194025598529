package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/replaycmd"
	"github.com/adk-go-ext/longsession/internal/terminal"
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
