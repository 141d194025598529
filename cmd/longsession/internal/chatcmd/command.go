// Package chatcmd is longsession chat: flags, model, tools and session of a chat.
package chatcmd

import (
	_ "embed" // of the help
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/pricing"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/internal/secrets"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

//go:embed help/chat.txt
var helpText string

// appName is the app of the sessions that the command makes.
const appName = "longsession"

// command holds the flags.
type command struct {
	file, session, user, prompt string
	resume                      bool
	config                      string
	window                      int
	price                       tokens.Model
	folder, trust               string
	noTools, noWeb              bool
	noCheckpoint, noStream      bool
	yolo, explain               bool
	flags                       config.Values
}

// mostWindow is above the window of any model.
const mostWindow = 100_000_000

// Command returns the chat command.
func Command() *cobra.Command {
	c := &command{file: defaultFile(), user: defaultUser(), folder: ".", trust: trustAsk}
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk to an agent, and see its context being managed", Long: helpText, Args: cobra.NoArgs, RunE: c.run,
		Annotations: map[string]string{exit.OwnInterrupts: "a turn"},
		Example: "  longsession chat\n  longsession chat --resume\n  longsession chat --model gemini-2.5-flash --max-session-cost-usd 2\n" +
			"  longsession chat --base-url http://localhost:11434/v1 --model qwen3:8b --context-window 32768\n" +
			"  longsession chat -p 'What does this folder hold?' --max-session-cost-usd 0.10",
	}
	setting.Add(cmd,
		setting.Setting{Name: "prompt", Short: "p", Value: setting.Text(&c.prompt), Help: "send this one message or command, print the answer and end"},
		setting.Setting{Name: "file", Value: setting.File(&c.file, "db"), Help: "the session file"},
		setting.Setting{Name: "session", Value: setting.Text(&c.session), Help: "the session to begin or to resume"},
		setting.Setting{Name: "resume", Value: setting.Switch(&c.resume), Help: "go on with your newest session"},
		setting.Setting{Name: "user", Value: setting.Text(&c.user), Help: "the user whose session it is"},
		setting.Setting{Name: "config", Value: setting.File(&c.config, "toml"), Help: "the file of settings"},
		setting.Setting{Name: "context-window", Value: setting.Int(&c.window, 0, mostWindow, "is that of the model"), Help: "the window of the model in tokens, if it is not known; 0 is that of the model"},
		setting.Setting{Name: "price", Value: pricing.Value(&c.price), Help: "the prices of the model, such as 'input=3,cached=0.3,output=15'"},
		setting.Setting{Name: "folder", Value: setting.Folder(&c.folder), Help: "the folder that the agent's tools read"},
		setting.Setting{Name: "no-tools", Value: setting.Switch(&c.noTools), Help: "no tools that read files or fetch pages"},
		setting.Setting{Name: "no-web", Value: setting.Switch(&c.noWeb), Help: "no tool that fetches pages"},
		setting.Setting{Name: "trust", Value: setting.Choice(&c.trust, trustAsk+"\tonce per folder", trustYes, trustNo), Help: "whether to follow the folder's AGENTS.md: ask, yes or no"},
		setting.Setting{Name: "no-checkpoint", Value: setting.Switch(&c.noCheckpoint), Help: "no checkpoints: neither the tool nor /done"},
		setting.Setting{Name: "no-stream", Value: setting.Switch(&c.noStream), Help: "show answers when they are complete"},
		setting.Setting{Name: "yolo", Value: setting.Switch(&c.yolo), Help: "ask for nothing: tools run, AGENTS.md is followed"},
		setting.Setting{Name: "explain", Value: setting.Switch(&c.explain), Help: "print the settings with their origins, and end"})
	AddSettings(cmd, &c.flags)
	return cmd
}

// AddSettings gives a command a flag for each key of package config. What is given goes to values.
func AddSettings(cmd *cobra.Command, values *config.Values) {
	for _, key := range config.Keys() {
		if key.Flag != "" { // not another name of a key
			setting.Add(cmd, settingOf(key, values))
		}
	}
}

// ServerSettings are the flags that say where a model is: a part of those of [AddSettings].
func ServerSettings(values *config.Values) []setting.Setting {
	var all []setting.Setting
	for _, key := range config.Keys() {
		if key.Flag == "base-url" || key.Flag == "server-timeout" {
			all = append(all, settingOf(key, values))
		}
	}
	return all
}

// settingOf is the flag of a key.
func settingOf(key config.Key, values *config.Values) setting.Setting {
	typed := ""
	set := func(text string) error {
		err := values.Set(key.Name, text)
		if refused := (*preset.SettingError)(nil); errors.As(err, &refused) {
			return &setting.Refused{Value: strconv.Quote(secrets.Shown(text)), Reason: refused.Reason}
		}
		typed = text
		return err
	}
	s := setting.Setting{Name: key.Flag, Help: key.Help}
	switch {
	case key.Kind == config.Toggle:
		on := false
		s.Value = setting.NewSwitch(func() string { return boolText(on) }, func(to bool) error {
			on = to
			return set(boolText(to != key.Negated)) // --no-compact sets compaction.enabled to false
		})
	default:
		s.Value = setting.New(func() string { return typed }, set)
	}
	if key.Name == "agent.model" || key.Name == "agent.agentic_small_model" {
		s.Complete = setting.OneOf(append([]string{demoModel + "\twithout a key"}, pricing.Models...)...)
	}
	return s
}

func boolText(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
