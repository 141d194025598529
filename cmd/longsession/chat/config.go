package chat

import (
	"context"
	"io"
	"slices"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/artifact"
	"google.golang.org/adk/memory"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// Config is what a chat needs. New copies it.
type Config struct {
	// Agent answers. With a Stack, its model must be wrapped by Stack.Model, and it must have the tools of
	// Stack.Tools. Required.
	Agent agent.Agent
	// Stack has the sessions, and the layers whose work the commands show. If nil, Sessions is required, and commands
	// that need a layer say so.
	Stack *longsession.Stack
	// Sessions is the session service of a chat without a Stack. It is ignored with one.
	Sessions session.Service
	// Session is the session to talk in. It is created if it does not exist. AppName and UserID are required. Without
	// a SessionID the chat begins a new session.
	Session compaction.SessionRef
	// Resume has a chat without Session.SessionID go on with the newest session of the user. If there is none, Run
	// returns [ErrNoSession].
	Resume bool
	// Lock reserves a session for this chat, and is called before a session is read. release is called when the chat
	// leaves the session. An error keeps the chat out of it. If nil, several chats may write to one session.
	Lock func(ctx context.Context, ref compaction.SessionRef) (release func(), err error)
	// Compactions tells the person what each compaction did. It must be the observer of the stack's compaction too. If
	// nil, compactions are silent.
	Compactions *Compactions
	// Alerts tells the person what the guard has to say. It must be the observer of the stack's guard too. If nil, the
	// guard is heard only when it stops something.
	Alerts *Alerts

	// Tools are the agent's, for /tools to list. If nil, those of the stack are listed.
	Tools []tool.Tool
	// PluginConfig has the app's own plugins. The chat adds those of the stack, unless they are there already.
	PluginConfig runner.PluginConfig
	// Artifacts and Memory are handed to ADK's runner. They may be nil.
	Artifacts artifact.Service
	Memory    memory.Service

	// In, Out and Err are the streams of the process. Answers and what commands print go to Out, all else to Err. If
	// In and Err are terminals, the person can edit lines. All are required.
	In       io.Reader
	Out, Err io.Writer
	// Prompt, if not "", is the only message, or the only command: the chat sends or runs it, prints what comes of it
	// and ends. In is not read.
	Prompt string
	// HistoryFile keeps the messages of the person for the next chat, with mode 0600. "" keeps none.
	HistoryFile string
	// NoCheckpoint takes everything about checkpoints out of the commands.
	NoCheckpoint bool
	// NoStream has the model answer as a whole.
	NoStream bool
	// Interrupts has an element for each Ctrl-C while the agent works. If nil, the chat listens for [os.Interrupt]
	// while it runs.
	Interrupts <-chan struct{}
}

// ConfigError is one refused value: Field names it as [Config] does, Value is as it was given, and Reason says
// what is wrong with it, and what to do. Several are joined: errors.As finds the first. All packages of this
// module have the same type.
type ConfigError = configerr.Error

// check returns what is wrong with the config.
func (c *Config) check() error {
	var p configerr.Problems
	refuse := func(wrong bool, field string, value any, reason string) {
		if wrong {
			p.Refuse(field, value, "%s", reason)
		}
	}
	refuse(c.Agent == nil, "Agent", nil, "set the agent that answers")
	refuse(c.Stack == nil && c.Sessions == nil, "Stack", nil, "set it, or Sessions for a chat without layers")
	refuse(c.Session.AppName == "", "Session.AppName", "", "name the app, as its runner does")
	refuse(c.Session.UserID == "", "Session.UserID", "", "name the user")
	refuse(c.Resume && c.Session.SessionID != "", "Resume", true, "leave it out, because Session.SessionID names the session, or leave that out")
	refuse(c.In == nil && c.Prompt == "", "In", nil, "set it to os.Stdin")
	refuse(c.Out == nil, "Out", nil, "set it to os.Stdout")
	refuse(c.Err == nil, "Err", nil, "set it to os.Stderr")
	return p.Join("chat config")
}

// sessions is the service of the chat.
func (c *Config) sessions() session.Service {
	if c.Stack != nil {
		return c.Stack.Sessions
	}
	return c.Sessions
}

// plugins are the app's, and those of the stack around them.
func (c *Config) plugins() runner.PluginConfig {
	if c.Stack == nil {
		return c.PluginConfig
	}
	for _, p := range c.Stack.PluginConfig().Plugins {
		if slices.Contains(c.PluginConfig.Plugins, p) {
			return c.PluginConfig // it is from Stack.PluginConfig
		}
	}
	all := c.Stack.PluginConfig(append([]*plugin.Plugin(nil), c.PluginConfig.Plugins...)...)
	all.CloseTimeout = c.PluginConfig.CloseTimeout
	return all
}
