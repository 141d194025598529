package configcmd

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chatcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/preset"
)

//go:embed help
var helpTexts embed.FS

// helpText returns the text of a file in the folder help.
func helpText(name string) string {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Command returns the config command with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show settings with their origin, and check files of settings", Long: helpText("config")}
	cmd.AddCommand(showCommand(), checkCommand())
	return cmd
}

// show holds the flags of config show.
type show struct {
	file         string
	origin, json bool
	flags        config.Values
}

func showCommand() *cobra.Command {
	s := &show{}
	cmd := &cobra.Command{
		Use: "show", Short: "Show the settings that a chat would have here", Long: helpText("show"), Args: cobra.NoArgs, RunE: s.run,
		Example: "  longsession config show --origin\n  longsession config show --preset longrun --json",
	}
	setting.Add(cmd,
		setting.Setting{Name: "config", Value: setting.File(&s.file, "toml"), Help: "the file of settings"},
		setting.Setting{Name: "origin", Value: setting.Switch(&s.origin), Help: "add where each value comes from"},
		setting.Setting{Name: "json", Value: setting.Switch(&s.json), Help: "write JSON Lines; the help above lists the fields"})
	chatcmd.AddSettings(cmd, &s.flags)
	return cmd
}

func (s *show) run(cmd *cobra.Command, _ []string) error {
	chatcmd.WarnOfVariables(cmd.ErrOrStderr())
	chat, err := chatcmd.Resolve(cmd.Context(), chatcmd.Request{Flags: s.flags, File: s.file})
	if err != nil {
		return exit.Usage("%w", err)
	}
	settings := chat.Settings
	if err := s.write(cmd.OutOrStdout(), settings.Lines()); err != nil {
		return exit.Failed("the settings could not be written: %w", err)
	}
	for _, n := range settings.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), terminal.Printable(n))
	}
	return nil
}

func (s *show) write(w io.Writer, lines []preset.Line) error {
	screen := terminal.Of(w)
	for _, l := range lines {
		var err error
		switch {
		case s.json:
			err = json.NewEncoder(terminal.Harmless(w)).Encode(struct {
				Key    string `json:"key"`
				Value  string `json:"value"`
				Origin string `json:"origin"`
			}{l.Key, l.Value, l.Origin})
		case s.origin:
			_, err = fmt.Fprintln(w, screen.Hang(terminal.Printable(fmt.Sprintf("%s = %s  (%s)", l.Key, l.Value, l.Origin))))
		default:
			_, err = fmt.Fprintln(w, screen.Hang(terminal.Printable(l.Key+" = "+l.Value)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Check a file of settings", Long: helpText("check"), Args: cobra.MaximumNArgs(1), RunE: check,
		Example: "  longsession config check\n  longsession config check longsession.toml", ValidArgsFunction: completeFile,
	}
}

func completeFile(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt
}

func check(cmd *cobra.Command, args []string) error {
	chatcmd.WarnOfVariables(cmd.ErrOrStderr())
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	if path = config.Locate(path, os.LookupEnv); path == "" {
		usual, err := config.DefaultPath()
		if err != nil {
			return exit.Usage("%w: name a FILE", err)
		}
		return exit.Usage("there is no file %s: name a FILE", usual)
	}
	file, err := config.Read(path)
	if fault := unreadable(err); fault != nil {
		return exit.Usage("%w", fault)
	}
	var settings config.Settings
	if err == nil {
		settings, err = config.Resolve(config.In{File: file, Today: time.Now()})
	}
	if err == nil {
		err = settings.Check()
	}
	out := cmd.OutOrStdout()
	screen := terminal.Of(out)
	problems := config.Problems(err)
	for _, p := range problems {
		if _, err := fmt.Fprintln(out, screen.Hang(terminal.Printable(p.Error()))); err != nil {
			return exit.Failed("the report could not be written: %w", err)
		}
	}
	if len(problems) > 0 {
		return exit.Findings(len(problems))
	}
	for _, n := range settings.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), terminal.Printable(n))
	}
	if _, err := fmt.Fprintf(out, "%s: fine\n", terminal.Printable(path)); err != nil {
		return exit.Failed("the report could not be written: %w", err)
	}
	return nil
}

// unreadable returns the error of a file that could not be read at all.
func unreadable(err error) error {
	var about *config.FileError
	if err == nil || errors.As(err, &about) && (about.Line > 0 || about.Key != "") {
		return nil
	}
	return err
}
