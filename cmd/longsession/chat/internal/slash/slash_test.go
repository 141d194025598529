package slash_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/slash"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

var all = []slash.Command{
	{Name: "help", Help: "lists the commands"},
	{Name: "compact", Aliases: []string{"summarize"}, Args: "[focus]", Help: "summarizes old turns now"},
	{Name: "compaction-status", Help: "shows when the next is due"},
	{Name: "context", Aliases: []string{"boundaries"}, Help: "shows what was done"},
	{Name: "recall", Args: "words", Help: "searches"},
	{Name: "result", Args: "REF", Help: "shows a result"},
	{Name: "new", Help: "begins a session"},
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		name, args string
		ok         bool
	}{
		"/compact":                            {"compact", "", true},
		"/compact the auth module ":           {"compact", "the auth module", true},
		"/compact\tthe  auth":                 {"compact", "the  auth", true},
		"/compact\u3000the auth":              {"compact", "the auth", true},
		"/COMPACT Now":                        {"compact", "Now", true},
		"/compaction-status\r\n":              {"compaction-status", "", true},
		"/guard reset +2.50":                  {"guard", "reset +2.50", true},
		"/result r2":                          {"result", "r2", true},
		" /compact":                           {},
		"/":                                   {},
		"//":                                  {},
		"/ compact":                           {},
		"":                                    {},
		"compact":                             {},
		"/usr/bin/env is missing":             {},
		"/2 of it":                            {},
		"/-x":                                 {},
		"/über":                               {},
		"/etc.conf":                           {},
		"/compact\nand a second line":         {},
		"/* a comment of some pasted code */": {},
	} {
		name, args, ok := slash.Parse(text)
		if name != want.name && want.ok || args != want.args || ok != want.ok {
			t.Errorf("Parse(%q) = %q, %q, %v, want %q, %q, %v", text, name, args, ok, want.name, want.args, want.ok)
		}
	}
}

// What Parse calls a command has a harmless name, whatever was typed.
func TestAParsedNameIsPlain(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		text := "/" + rapid.String().Draw(t, "text")
		name, args, ok := slash.Parse(text)
		if !ok {
			return
		}
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("Parse(%q) has the name %q", text, name)
		}
		if strings.ContainsAny(args, "\n\r") || strings.TrimSpace(args) != args {
			t.Errorf("Parse(%q) has the arguments %q", text, args)
		}
	})
}

func TestNearestCommand(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"compcat":    {"compact"},
		"hlep":       {"help"},
		"con":        {"context"},
		"comp":       {"compact", "compaction-status"},
		"re":         {"recall", "result"},
		"summarise":  {"summarize"},
		"bound":      {"boundaries"},
		"contxet":    {"context"},
		"recal":      {"recall"},
		"resall":     {"recall"},           // one edit, and result is three away
		"reslll":     {"recall", "result"}, // both are two edits away
		"nwe":        nil,                  // a short name must be nearer
		"ls":         nil,
		"x":          nil,
		"helicopter": nil,
	} {
		if got := slash.Nearest(name, all); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestUnknownCommandSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"compcat":    "no command is named /compcat; did you mean /compact?",
		"re":         "no command is named /re; did you mean /recall or /result?",
		"helicopter": "no command is named /helicopter; /help lists them, and a blank in front of the slash makes it a message",
	} {
		if got := slash.Unknown(name, all).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The nearest name to a known one with one letter changed is that one, or one as near.
func TestATypingErrorIsFound(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(all[:len(all)-1]).Draw(t, "command")
		at := rapid.IntRange(1, len(c.Name)-1).Draw(t, "at")
		typed := c.Name[:at] + "q" + c.Name[at+1:]
		if got := slash.Nearest(typed, all); !slices.Contains(got, c.Name) {
			t.Errorf("Nearest(%q) = %q", typed, got)
		}
	})
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"/co":         {"/compact", "/compaction-status", "/context"},
		"/compact":    {"/compact", "/compaction-status"},
		"/CON":        {"/context"},
		"/sum":        {"/summarize"},
		"/compact x":  nil,
		"/compact ":   nil,
		"/zzz":        nil,
		"hello":       nil,
		"":            nil,
		"see /compac": nil,
	} {
		if got := slash.Complete(line, all); !slices.Equal(got, want) {
			t.Errorf("Complete(%q) = %q, want %q", line, got, want)
		}
	}
	if got := slash.Complete("/", all); len(got) != len(all) || !slices.IsSorted(got) {
		t.Errorf("Complete(/) = %q", got)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	same := func(text string, _ int) string { return text }
	want := "  /help                             lists the commands\n" +
		"  /compact [focus]                  summarizes old turns now (also /summarize)\n"
	if got := slash.Help(all[:2], 0, same); got != want {
		t.Errorf("a pipe:\n%s\nwant\n%s", got, want)
	}
	want = "/help\n    lists the commands\n/compact [focus]\n    summarizes old turns now (also /summarize)\n"
	if got := slash.Help(all[:2], 40, same); got != want {
		t.Errorf("40 columns:\n%s\nwant\n%s", got, want)
	}
}
