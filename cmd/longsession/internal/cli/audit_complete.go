package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

func contextOf(c *cobra.Command) context.Context {
	if ctx := c.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// completeArgs completes FILE, and SESSION from that file.
func (a *auditing) completeArgs(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0 && len(beginning(commandNames(c), typed)) > 0:
		return sessionFilesHere(typed), cobra.ShellCompDirectiveNoFileComp
	case len(args) == 0:
		return sessionFileEndings, cobra.ShellCompDirectiveFilterFileExt
	case len(args) == 1 && c.Name() != "list":
		return a.sessionNames(contextOf(c), args[0], typed), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// sessionNames are what may be given for SESSION: IDs or, where one is not unique or a slash was typed, names
// in full.
func (a *auditing) sessionNames(ctx context.Context, file, typed string) []string {
	sessions := sessionsOf(ctx, file, a.narrow)
	times := map[string]int{}
	for _, s := range sessions {
		times[s.ID]++
	}
	var offered []string
	for _, s := range sessions {
		for _, name := range []string{s.ID, s.Name()} {
			unique := name != s.ID || times[s.ID] == 1
			if unique && plain(name) && strings.HasPrefix(name, typed) {
				offered = append(offered, cobra.CompletionWithDesc(name, plural(int(s.Events), "event")+", "+moment(s.Updated)))
				break
			}
		}
	}
	return offered
}

// sessionsOf are the sessions of a file that is only read; none if it cannot be.
func sessionsOf(ctx context.Context, file string, narrow audit.Narrow) []*audit.Session {
	f, err := audit.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	sessions, err := f.Sessions(ctx, narrow)
	if err != nil {
		return nil
	}
	return sessions
}

// completeSessions completes what f says of the sessions of the file given.
func (a *auditing) completeSessions(f func(*audit.Session) string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var offered []string
		if len(args) > 0 {
			for _, s := range sessionsOf(contextOf(c), args[0], audit.Narrow{}) {
				if value := f(s); plain(value) && strings.HasPrefix(value, typed) && !slices.Contains(offered, value) {
					offered = append(offered, value)
				}
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRecords completes the IDs of the records of the session given.
func (a *auditing) completeRecords(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f, err := audit.Open(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer f.Close()
	s, err := f.Find(contextOf(c), nameIn(args), a.narrow)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	records, err := f.Compactions(contextOf(c), s)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []string
	for i := range records {
		if id := records[i].RecordID; plain(id) && strings.HasPrefix(id, typed) {
			offered = append(offered, cobra.CompletionWithDesc(id, plural(records[i].Events, "event")+", "+moment(records[i].CreatedAt)))
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
