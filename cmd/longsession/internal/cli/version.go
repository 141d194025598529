package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of longsession, ADK and Go",
		Args:  cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version describes the build. A binary made by go run or go test knows less about itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "longsession, unknown version"
	}
	return describe(info)
}

func describe(info *debug.BuildInfo) string {
	own := info.Main.Version
	if own == "" {
		own = "(devel)"
	}
	var details []string
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			details = append(details, "revision "+setting.Value[:min(12, len(setting.Value))])
		case setting.Key == "vcs.modified" && setting.Value == "true":
			details = append(details, "modified")
		}
	}
	for _, dep := range info.Deps {
		if dep.Path == "google.golang.org/adk" {
			details = append(details, "adk "+dep.Version)
		}
	}
	details = append(details, info.GoVersion)
	return fmt.Sprintf("longsession %s (%s)", own, strings.Join(details, ", "))
}
