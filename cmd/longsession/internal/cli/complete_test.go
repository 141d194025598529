package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
)

// conversationFiles are the endings of the files that replay reads.
var conversationFiles = append([]string{"jsonl", "json", "gz"}, suggest.SessionFiles...)

// completed asks as a shell's script does, and returns what is offered without what it means, and
// the directive, such as ":4".
func completed(t *testing.T, args ...string) (offered []string, directive string) {
	t.Helper()
	code, out, _ := called(t.Context(), append([]string{"__complete"}, args...)...)
	if code != exit.CodeOK {
		t.Fatalf("__complete %q: exit code %d", args, code)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		name, _, _ := strings.Cut(line, "\t")
		offered = append(offered, name)
	}
	last := len(offered) - 1
	return offered[:last], offered[last]
}

func TestValuesOfFlagsAreCompleted(t *testing.T) {
	t.Parallel()
	const noFiles, keepOrder, noSpace, ending = ":4", ":36", ":6", ":8"
	for name, c := range map[string]struct {
		args      []string
		want      []string
		directive string
	}{
		"commands":                {[]string{""}, []string{"audit", "chat", "completion", "config", "doctor", "export", "help", "import", "recall", "replay", "serve", "version"}, noFiles},
		"help of a command":       {[]string{"help", "audit", "ver"}, []string{"verify"}, noFiles},
		"summarizer":              {[]string{"replay", "--summarizer", ""}, []string{"extractive", "recorded", "model", "off"}, keepOrder},
		"summarizer begun":        {[]string{"replay", "--summarizer", "re"}, []string{"recorded"}, keepOrder},
		"after an equals sign":    {[]string{"replay", "--summarizer=o"}, []string{"off"}, keepOrder},
		"fixed":                   {[]string{"replay", "--fixed", ""}, []string{"auto", "recorded"}, keepOrder},
		"summary model":           {[]string{"replay", "--summary-model", "gemini-2.5-p"}, []string{"gemini-2.5-pro"}, keepOrder},
		"summary model of OpenAI": {[]string{"replay", "--summary-model", "gpt-4o-"}, []string{"gpt-4o-mini"}, keepOrder},
		"model":                   {[]string{"replay", "--model", "claude-s"}, []string{"claude-sonnet-4-5"}, keepOrder},
		"grid":                    {[]string{"replay", "--grid", "th"}, []string{"threshold="}, noSpace},
		"second key of a grid":    {[]string{"replay", "--grid", "max-summaries=1,2 max-"}, []string{"max-summaries=1,2 max-summary-tokens="}, noSpace},
		"summarizers of a grid":   {[]string{"replay", "--grid", "overlap=1 summarizer=off,r"}, []string{"overlap=1 summarizer=off,recorded"}, noSpace},
		"numbers of a grid":       {[]string{"replay", "--grid", "overlap="}, nil, noFiles},
		"a number":                {[]string{"replay", "--threshold", ""}, nil, noFiles},
		"a session file":          {[]string{"replay", "--db", ""}, suggest.SessionFiles, ending},
		"a page":                  {[]string{"replay", "--html", ""}, []string{"html", "htm"}, ending},
		"conversations":           {[]string{"replay", ""}, conversationFiles, ending},
		"more conversations":      {[]string{"replay", "a.jsonl", ""}, conversationFiles, ending},
		"ID of a conversation":    {[]string{"replay", sample, "--only", "e"}, []string{"espresso-support"}, noFiles},
		"format":                  {[]string{"audit", "export", "--format", ""}, []string{"jsonl", "markdown"}, keepOrder},
		"file of an audit":        {[]string{"audit", "verify", ""}, suggest.SessionFiles, ending},
		"path for an audit":       {[]string{"audit", "folder/x"}, suggest.SessionFiles, ending},
		"an audit's command":      {[]string{"audit", "ver"}, []string{"verify"}, noFiles},
		"a shell":                 {[]string{"completion", "z"}, []string{"zsh"}, noFiles},
		"nothing behind version":  {[]string{"version", ""}, nil, noFiles},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offered, directive := completed(t, c.args...)
			if !slices.Equal(offered, c.want) || directive != c.directive {
				t.Errorf("offered %q %s, want %q %s", offered, directive, c.want, c.directive)
			}
		})
	}
}

func TestEveryFlagThatTakesAValueIsCompleted(t *testing.T) {
	t.Parallel()
	flags := 0
	eachCommand(rootCommand(replay.Compare), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			flags++
			if _, ok := c.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("--%s of %q completes files that have nothing to do with it", f.Name, c.CommandPath())
			}
		})
	})
	if flags < 20 {
		t.Errorf("%d flags found only: the test looks in the wrong place", flags)
	}
}

// namesFile has two users' sessions, one ID twice, and one that no shell can be offered.
func namesFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "names.db")
	stored, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range [][3]string{{"shop", "ada", "order-1"}, {"shop", "ada", "order 2"}, {"shop", "bob", "same"}, {"desk", "bob", "same"}, {"desk", "eve", "two\nlines"}} {
		if _, err := stored.Create(t.Context(), &session.CreateRequest{AppName: name[0], UserID: name[1], SessionID: name[2]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSessionsAreCompletedFromTheFile(t *testing.T) {
	t.Parallel()
	file := namesFile(t)
	for name, c := range map[string]struct{ args, want []string }{
		"all":             {[]string{"audit", "history", file, ""}, []string{"desk/bob/same", "order 2", "order-1", "shop/bob/same"}},
		"without command": {[]string{"audit", file, ""}, []string{"desk/bob/same", "order 2", "order-1", "shop/bob/same"}},
		"begun":           {[]string{"audit", "verify", file, "order-"}, []string{"order-1"}},
		"in full":         {[]string{"audit", "verify", file, "shop/ada/order-"}, []string{"shop/ada/order-1"}},
		"of an app":       {[]string{"audit", "verify", "--app", "desk", file, ""}, []string{"same"}},
		"of a user":       {[]string{"audit", "verify", file, "--user", "ada", ""}, []string{"order 2", "order-1"}},
		"not of list":     {[]string{"audit", "list", file, ""}, nil},
		"one is enough":   {[]string{"audit", "verify", file, "order-1", ""}, nil},
		"apps":            {[]string{"audit", "list", file, "--app", ""}, []string{"desk", "shop"}},
		"users":           {[]string{"audit", "list", file, "--user", "b"}, []string{"bob"}},
		"apps of no file": {[]string{"audit", "list", "--app", ""}, nil},
		"missing file":    {[]string{"audit", "history", file + "x", ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			offered, directive := completed(t, c.args...)
			slices.Sort(offered)
			if !slices.Equal(offered, c.want) || directive != ":4" {
				t.Errorf("offered %q %s, want %q", offered, directive, c.want)
			}
		})
	}
	t.Cleanup(func() { onlyFiles(t, filepath.Dir(file), "names.db") }) // after the parallel ones: it was only read
}

func TestRecordsAreCompletedFromTheSession(t *testing.T) {
	t.Parallel()
	file := storeSession(t, (&ct.History{}).Turns(6, "bot").Compact("r1", "e1", "e2").Compact("s2", "e3", "e4"), "shop", "ada", "s1")
	if offered, _ := completed(t, "audit", "diff", file, "s1", "--record", ""); !slices.Equal(offered, []string{"r1", "s2"}) {
		t.Errorf("offered %q", offered)
	}
	if offered, _ := completed(t, "audit", "diff", file, "--record", "s"); !slices.Equal(offered, []string{"s2"}) {
		t.Errorf("with the session left out: offered %q", offered)
	}
}

func TestCommandsAndSessionFilesAreCompletedTogether(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"list.db", "notes.txt", "verify-me.sqlite"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	for typed, want := range map[string][]string{"li": {"list", "list.db"}, "verify": {"verify", "verify-me.sqlite"}, "se": {"seal"}} {
		if offered, directive := completed(t, "audit", typed); !slices.Equal(offered, want) || directive != ":4" {
			t.Errorf("%q: offered %q %s, want %q", typed, offered, directive, want)
		}
	}
}
