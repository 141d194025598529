package chat

import (
	"io"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/artifact"
	"google.golang.org/adk/memory"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
)

// Config is what a chat needs.
type Config struct {
	// Agent answers. Its model must be wrapped by Stack.Model, and it must have the tools of Stack.Tools.
	// Required.
	Agent agent.Agent
	// Stack has the sessions, and the layers whose work the commands show. Required.
	Stack *longsession.Stack
	// Session is the session to talk in. It is created if it does not exist. AppName and UserID are required.
	// Without a SessionID the chat begins a new session.
	Session compaction.SessionRef
	// Plugins are the app's own. The chat adds those of the stack.
	Plugins []*plugin.Plugin
	// Artifacts and Memory are handed to ADK's runner. They may be nil.
	Artifacts artifact.Service
	Memory    memory.Service
	// In, Out and Err are the streams of the process. Answers and what commands print go to Out, all else to Err. If
	// In and Out are terminals, the person can edit lines. All are required.
	In       io.Reader
	Out, Err io.Writer
}
