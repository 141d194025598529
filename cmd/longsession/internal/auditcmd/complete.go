package auditcmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// completeArgs completes FILE, and SESSION from that file. If the typed text can also be the
// beginning of a subcommand, the shell is offered both, and completeArgs has to find the files.
func (a *command) completeArgs(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0 && len(suggest.Starting(suggest.Commands(c), typed)) > 0:
		return sessionFilesHere(typed), cobra.ShellCompDirectiveNoFileComp
	case len(args) == 0:
		return suggest.SessionFiles, cobra.ShellCompDirectiveFilterFileExt
	case len(args) == 1 && c.Name() != "list":
		return a.sessionNames(c.Context(), args[0], typed), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// sessionFilesHere returns the session files whose names begin with the typed text. It is for a
// place where a shell, which is offered commands too, does not look for files itself.
func sessionFilesHere(typed string) []string {
	folder, begin := filepath.Split(typed)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		ending := strings.TrimPrefix(filepath.Ext(entry.Name()), ".")
		if slices.Contains(suggest.SessionFiles, ending) && suggest.Fits(entry.Name(), begin) && !entry.IsDir() {
			found = append(found, folder+entry.Name())
		}
	}
	return found
}

// sessionNames returns the names to offer for SESSION: the ID of each session, or its full name if
// the ID is not unique or a slash was typed.
func (a *command) sessionNames(ctx context.Context, file, typed string) []string {
	sessions := reading([]string{file}, func(f *audit.File) ([]*audit.Session, error) { return f.Sessions(ctx, a.narrow) })
	times := map[string]int{}
	for _, s := range sessions {
		times[s.ID]++
	}
	var offered []string
	for _, s := range sessions {
		for _, name := range []string{s.ID, s.Name()} {
			unique := name != s.ID || times[s.ID] == 1
			if unique && suggest.Fits(name, typed) {
				offered = append(offered, cobra.CompletionWithDesc(name, terminal.Plural(s.Events, "event")+", "+moment(s.Updated)))
				break
			}
		}
	}
	return offered
}

// reading returns what read finds in the file that the arguments name, or nothing if there is no
// such file or it cannot be read: a shell cannot show an error.
func reading[T any](args []string, read func(*audit.File) ([]T, error)) []T {
	if len(args) == 0 {
		return nil
	}
	f, err := audit.Open(args[0])
	if err != nil {
		return nil
	}
	defer f.Close()
	found, _ := read(f)
	return found
}

// completeSessions offers a value of each session in the given file.
func completeSessions(value func(*audit.Session) string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var offered []string
		for _, s := range reading(args, func(f *audit.File) ([]*audit.Session, error) { return f.Sessions(c.Context(), audit.Narrow{}) }) {
			if v := value(s); suggest.Fits(v, typed) && !slices.Contains(offered, v) {
				offered = append(offered, v)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRecords offers the names of the records in the given session, or their IDs if one was begun, each with its
// size and time, as names and IDs alone mean little to people.
func (a *command) completeRecords(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offered []string
	var named *audit.Names
	records := reading(args, func(f *audit.File) ([]audit.Compaction, error) {
		s, err := f.Find(c.Context(), sessionArg(args), a.narrow)
		if err != nil {
			return nil, err
		}
		if named, err = audit.ReadNames(c.Context(), f, s); err != nil {
			return nil, err
		}
		return f.Compactions(c.Context(), s)
	})
	for _, record := range records {
		for _, name := range []string{named.Of(record.RecordID), record.RecordID} {
			if suggest.Fits(name, typed) {
				offered = append(offered, cobra.CompletionWithDesc(name, terminal.Plural(record.Events, "event")+", "+moment(record.CreatedAt)))
				break
			}
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
