package cli

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adk-go-ext/longsession/replay"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/command.md")
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

func TestManualNamesEveryFieldOfTheJSON(t *testing.T) {
	t.Parallel()
	text, fields := manual(t), 0
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			visit(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				field := typ.Field(i)
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if name != "" && name != "-" {
					fields++
					if !strings.Contains(text, "`"+name+"`") {
						t.Errorf("docs/command.md lacks the field %q of %s", name, typ)
					}
				}
				if name != "-" {
					visit(field.Type)
				}
			}
		}
	}
	for _, line := range []any{jsonRun{}, jsonConversation{}, jsonError{}, jsonTotal{}} {
		visit(reflect.TypeOf(line))
	}
	if fields < 60 {
		t.Errorf("%d fields found only: the test looks in the wrong place", fields)
	}
}

func TestManualAndHelpNameEveryExitCode(t *testing.T) {
	t.Parallel()
	text := manual(t)
	for _, code := range []int{exitOK, exitFindings, exitUsage, exitFailed, exitInterrupted} {
		if !strings.Contains(text, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/command.md lacks exit code %d", code)
		}
		for _, help := range []string{rootHelp, replayHelp} {
			if !strings.Contains(help, fmt.Sprintf("\n  %-4d ", code)) {
				t.Errorf("a help text lacks exit code %d:\n%s", code, help)
			}
		}
	}
}

func TestHelpOfReplayNamesEveryKeyOfAGrid(t *testing.T) {
	t.Parallel()
	cmd := replayCommand(replay.Compare)
	for _, key := range gridKeys {
		if !strings.Contains(replayHelp, key) || !strings.Contains(manual(t), "`"+key+"`") {
			t.Errorf("help or manual lacks the key %q", key)
		}
		if cmd.Flags().Lookup(key) == nil {
			t.Errorf("key %q is no flag", key)
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
			if n := uniseg.StringWidth(strings.TrimSpace(line)); n > lineWidth {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
	if pages < 4 {
		t.Errorf("%d pages found only: the test looks in the wrong place", pages)
	}
}
