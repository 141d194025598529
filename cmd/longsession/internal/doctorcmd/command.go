package doctorcmd

import (
	"context"
	_ "embed" // of the help
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/sessionlock"
	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chatcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

//go:embed help/doctor.txt
var helpText string

// The states of a check.
const (
	ok   = "ok"
	note = "note" // it works, and a person should know
	bad  = "bad"  // a chat would not work
)

// check is one that was made.
type check struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
}

// command holds the flags.
type command struct {
	version       string
	file, config  string
	json, offline bool
	flags         config.Values
	checks        []check
}

// Command returns the doctor command. version is that of the program.
func Command(version string) *cobra.Command {
	c := &command{version: version, file: chatcmd.DefaultFile()}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say whether a chat would work here, and what is missing", Long: helpText, Args: cobra.NoArgs, RunE: c.run,
		Example: "  longsession doctor\n  longsession doctor --base-url http://localhost:11434/v1 --model qwen3:8b",
	}
	setting.Add(cmd,
		setting.Setting{Name: "file", Value: setting.File(&c.file, suggest.SessionFiles...), Help: "the session file"},
		setting.Setting{Name: "config", Value: setting.File(&c.config, "toml"), Help: "the file of settings"},
		setting.Setting{Name: "offline", Value: setting.Switch(&c.offline), Help: "ask no server"},
		setting.Setting{Name: "json", Value: setting.Switch(&c.json), Help: "write JSON Lines; the help above lists the fields"})
	chatcmd.AddSettings(cmd, &c.flags)
	return cmd
}

func (c *command) run(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	c.found("version", ok, "%s, %s/%s", c.version, runtime.GOOS, runtime.GOARCH)
	setup := c.settings(ctx)
	c.variables(os.Environ())
	if setup != nil {
		c.model(ctx, setup)
	}
	c.sessions(ctx)
	c.lock()
	c.disk()
	if ctx.Err() != nil {
		return exit.Interrupted("not everything was looked at")
	}
	if err := c.write(cmd.OutOrStdout()); err != nil {
		return exit.Failed("the report could not be written: %w", err)
	}
	n := 0
	for _, one := range c.checks {
		if one.State == bad {
			n++
		}
	}
	if n > 0 {
		return exit.Findings(n)
	}
	return nil
}

func (c *command) found(what, state, format string, args ...any) {
	c.checks = append(c.checks, check{what, state, fmt.Sprintf(format, args...)})
}

func (c *command) write(w io.Writer) error {
	screen := terminal.Of(w)
	for _, one := range c.checks {
		if c.json {
			if err := json.NewEncoder(terminal.Harmless(w)).Encode(one); err != nil {
				return err
			}
			continue
		}
		line := fmt.Sprintf("%-4s  %s: %s", one.State, one.Check, terminal.Printable(one.Text))
		if _, err := fmt.Fprintln(w, screen.Hang(line)); err != nil {
			return err
		}
	}
	return nil
}

// settings resolves them. It returns nil if a chat would not begin.
func (c *command) settings(ctx context.Context) *chatcmd.Setup {
	setup, err := chatcmd.Resolve(ctx, chatcmd.Request{Flags: c.flags, File: c.config})
	if err == nil {
		err = setup.Settings.Check()
	}
	if err != nil {
		for _, one := range config.Problems(err) {
			c.found("settings", bad, "%v", one)
		}
		return nil
	}
	from := "no file; all are defaults, flags and variables"
	if setup.File != "" {
		from = "from " + setup.File
	}
	c.found("settings", ok, "%s; 'longsession config show --origin' lists them", from)
	for _, n := range setup.Settings.Notes {
		c.found("settings", note, "%s", strings.Join(strings.Fields(n), " "))
	}
	return setup
}

// variables looks for names that nothing reads. Their values are not shown.
func (c *command) variables(environment []string) {
	for _, v := range chatcmd.UnreadVariables(environment) {
		c.found("variables", note, "%s", v)
	}
}

// model looks for the key and the server.
func (c *command) model(ctx context.Context, setup *chatcmd.Setup) {
	name := setup.Model.Name()
	variable, needed := setup.KeyOf()
	switch {
	case variable != "":
		c.found("key", ok, "%s is set", variable)
	case needed:
		c.found("key", bad, "no key of %s is set", name)
	default:
		c.found("key", ok, "%s needs none", name)
	}
	if c.offline {
		c.found("model", note, "%s; no server was asked", name)
		return
	}
	where, err := setup.Reach(ctx)
	switch {
	case where == "":
		c.found("model", ok, "%s answers without a network", name)
	case errors.Is(err, chatcmd.ErrUnlisted):
		c.found("model", note, "%s at %s: %v", name, where, err)
	case err != nil:
		c.found("model", bad, "%s at %s: %v", name, where, err)
	default:
		c.found("model", ok, "%s has %s", where, name)
	}
}

// sessions reads the session file.
func (c *command) sessions(ctx context.Context) {
	info, err := os.Stat(c.file)
	folder := filepath.Dir(c.file)
	switch {
	case errors.Is(err, os.ErrNotExist) && c.file != chatcmd.DefaultFile() && !exists(folder):
		c.found("file", bad, "there is no folder %s: make the folder, or name another file with --file", folder)
		return
	case errors.Is(err, os.ErrNotExist):
		c.found("file", ok, "%s is not there yet; a chat makes it", c.file)
		return
	case err != nil:
		c.found("file", bad, "%v", err)
		return
	case info.IsDir():
		c.found("file", bad, "%s is a folder: name a file with --file", c.file)
		return
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		c.found("file", note, "%s can be read by others (%v): it has every word in plain text; 'chmod 600' keeps it for you", c.file, info.Mode().Perm())
	}
	f, err := audit.Open(c.file)
	if err != nil {
		c.found("file", bad, "%s cannot be opened: %v", c.file, err)
		return
	}
	defer f.Close()
	all, err := f.Sessions(ctx, audit.Narrow{})
	if err != nil {
		c.found("file", bad, "%s cannot be read: %v; 'longsession audit verify' says more", c.file, err)
		return
	}
	if missing := f.Incomplete(); missing != nil {
		c.found("file", note, "%s: %v", c.file, missing)
	}
	c.found("file", ok, "%s has %s and %s bytes", c.file, terminal.Plural(len(all), "session"), terminal.Commas(info.Size()))
}

func exists(folder string) bool {
	_, err := os.Stat(folder)
	return !errors.Is(err, os.ErrNotExist)
}

// lock tries whether the folder takes the lock of a session, and looks for sessions that are in use.
func (c *command) lock() {
	if !exists(filepath.Dir(c.file)) {
		if c.file == chatcmd.DefaultFile() {
			c.found("lock", ok, "the folder %s is not there yet; a chat makes it", filepath.Dir(c.file))
		}
		return
	}
	// The name is none of a session's: its user cannot be empty.
	release, err := sessionlock.Take(c.file, "longsession", "", "doctor")
	var inUse *sessionlock.InUseError
	switch {
	case errors.As(err, &inUse):
		c.found("lock", ok, "another doctor is looking at this file")
	case err != nil:
		c.found("lock", bad, "%v", err)
		return
	default:
		release()
		c.found("lock", ok, "sessions can be locked")
	}
	left, err := filepath.Glob(globbed(c.file) + ".*.lock")
	if err != nil {
		return // the pattern is ours
	}
	for _, path := range left {
		c.found("lock", note, "%s is there: a chat uses that session, or was killed, which does no harm", path)
	}
}

// globbed makes a pattern that only a name itself fits.
func globbed(name string) string {
	if runtime.GOOS == "windows" {
		return name // a backslash separates folders there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// Free space below which a chat is refused room, and below which a person should know: a long session takes some 100 MB.
const (
	leastFree = 20 << 20
	fewFree   = 500 << 20
)

// disk looks for free space where the session file is or will be.
func (c *command) disk() {
	folder := filepath.Dir(c.file)
	for {
		if _, err := os.Stat(folder); err == nil || filepath.Dir(folder) == folder {
			break
		}
		folder = filepath.Dir(folder)
	}
	free, known := freeOn(folder)
	c.room(folder, free, known)
}

func (c *command) room(folder string, free uint64, known bool) {
	mib := int64(free >> 20)
	switch {
	case !known:
		c.found("disk", note, "the free space of %s is not known", folder)
	case free < leastFree:
		c.found("disk", bad, "%s has %s MiB left: make room, or name another file with --file", folder, terminal.Commas(mib))
	case free < fewFree:
		c.found("disk", note, "%s has %s MiB left", folder, terminal.Commas(mib))
	default:
		c.found("disk", ok, "%s has %s MiB left", folder, terminal.Commas(mib))
	}
}
