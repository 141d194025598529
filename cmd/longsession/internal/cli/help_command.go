package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
)

// helpCommand is "help COMMAND". Unlike cobra's own, it fails for an unknown command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		Long:  "Help does the same as --help: 'longsession help audit verify' is 'longsession audit verify --help'.",
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range about.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), prefix) {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || about == nil || len(rest) > 0 {
				name := strings.Join(args, " ")
				var near string
				if about != nil && len(rest) > 0 {
					near = suggest.DidYouMean(rest[0], suggest.Commands(about), strings.TrimPrefix(about.CommandPath()+" ", c.Root().Name()+" "))
				}
				return exit.Usage("help: there is no command %q%s; see '%s --help'", name, near, c.Root().Name())
			}
			about.SetContext(c.Context())
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}
