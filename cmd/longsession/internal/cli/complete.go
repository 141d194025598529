package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// Endings of the files that are read, as a shell knows them.
var (
	sessionFileEndings  = []string{"db", "sqlite", "sqlite3"}
	conversationEndings = append([]string{"jsonl", "json", "gz"}, sessionFileEndings...)
)

// models are offered as --model; package tokens knows many more. Each has prices.
var models = []string{
	"claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5",
	"gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-flash", "gemini-3-pro",
	"gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "gpt-5",
}

// flagCompletions complete the values of flags, by their names.
func (a *auditing) flagCompletions() map[string]cobra.CompletionFunc {
	none := cobra.NoFileCompletions
	return map[string]cobra.CompletionFunc{
		"summarizer":    choice("extractive\tno model", "recorded\twhere and what the recording has", "gemini\tneeds a key and costs money", "off\tno compaction"),
		"fixed":         choice("auto\tas the counts tell, unless over half of the window", "recorded\tas the counts tell"),
		"model":         choice(models...),
		"summary-model": choice(slices.DeleteFunc(slices.Clone(models), func(name string) bool { return !strings.HasPrefix(name, "gemini-") })...),
		"grid":          completeGrid,
		"db":            files(sessionFileEndings...),
		"html":          files("html", "htm"),
		"only":          completeConversations,
		"app":           a.completeSessions(func(s *audit.Session) string { return s.App }),
		"user":          a.completeSessions(func(s *audit.Session) string { return s.User }),
		"record":        a.completeRecords,
		"format":        choice(audit.Formats...),
		"output":        files("jsonl", "json", "md", "html"),
		"key":           files("pem", "key"),
		"public-key":    files("pem", "pub"),
		"against":       files("json", "seal"),

		"threshold": none, "overlap": none, "context-window": none, "token-threshold": none, "safety-ratio": none,
		"retain": none, "max-summaries": none, "max-summary-tokens": none, "price": none, "limit": none, "jobs": none,
		"from": none, "width": none, "redact": none,
	}
}

// addCompletions has the shell complete the values of all flags below c.
func addCompletions(c *cobra.Command, by map[string]cobra.CompletionFunc) {
	eachCommand(c, func(c *cobra.Command) {
		add := func(f *pflag.Flag) {
			complete := by[f.Name]
			if complete == nil {
				return
			}
			if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
				panic(err) // the flag has one already
			}
		}
		c.Flags().VisitAll(add)
		c.PersistentFlags().VisitAll(add)
	})
}

// choice completes one of some values; what they mean may follow behind a tab.
func choice(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(values, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// files completes files with one of some endings.
func files(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func beginning(values []string, typed string) []string {
	var found []string
	for _, value := range values {
		if strings.HasPrefix(value, typed) {
			found = append(found, value)
		}
	}
	return found
}

// completeGrid completes the last key or value of a grid.
func completeGrid(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	begin := typed[:strings.LastIndex(typed, " ")+1]
	word := typed[len(begin):]
	if key, list, found := strings.Cut(word, "="); found {
		if key != "summarizer" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		given := list[:strings.LastIndex(list, ",")+1]
		var offered []string
		for _, value := range summarizers {
			if strings.HasPrefix(value, list[len(given):]) && !slices.Contains(strings.Split(given, ","), value) {
				offered = append(offered, begin+key+"="+given+value)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var offered []string
	for _, key := range gridKeys {
		if strings.HasPrefix(key, word) && !strings.Contains(" "+begin, " "+key+"=") {
			offered = append(offered, begin+key+"=")
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// maxOffered is how many conversations are offered, and maxOffering how many bytes of input are read for it.
const (
	maxOffered  = 200
	maxOffering = 64 << 20
)

// completeConversations offers the IDs of the conversations that stand in the files given so far.
func completeConversations(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offered []string
	var read int64
	for _, name := range args {
		in, err := lookInto(name)
		if err != nil || name == stdinArg || in.bytes == 0 { // reading a pipe would take from it
			continue
		}
		in.each(contextOf(c), nil, func(it item) bool {
			read += it.bytes
			if it.err == nil && strings.HasPrefix(it.conversation.ID, typed) && plain(it.conversation.ID) {
				offered = append(offered, it.conversation.ID)
			}
			return len(offered) < maxOffered && read < maxOffering && contextOf(c).Err() == nil
		})
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// plain reports whether a shell can be offered a name: it reads one a line, with a tab before its meaning.
func plain(name string) bool { return name != "" && name == printable(name) }

// sessionFilesHere are the session files that begin as was typed, for a place where commands are offered too:
// with those, a shell cannot look for files itself.
func sessionFilesHere(typed string) []string {
	folder, begin := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Clean("./" + folder))
	if filepath.IsAbs(folder) {
		entries, err = os.ReadDir(folder)
	}
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		ending := strings.TrimPrefix(filepath.Ext(entry.Name()), ".")
		if slices.Contains(sessionFileEndings, ending) && strings.HasPrefix(entry.Name(), begin) && !entry.IsDir() && plain(entry.Name()) {
			found = append(found, folder+entry.Name())
		}
	}
	return found
}
