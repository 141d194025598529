package adk

import (
	"strings"

	"google.golang.org/adk/session"
)

// userAuthor is the author of user events. ADK reserves the name: no agent may have it.
const userAuthor = "user"

// remotePrefix begins the CustomMetadata keys in which ADK's client of remote agents keeps the task
// and the context of the other side: ToADKMetaKey in server/adka2a/v2/metadata.go.
const remotePrefix = "a2a:"

// Class is the set of answers to the questions that this module asks about a single event.
// [Classify] reads the event once; code with several questions passes the Class on.
//
// Three events of one turn:
//
//	user: "Is it cold in Oslo?"    ByUser | Speaks | Message
//	bot:  calls weather("Oslo")    ByAgent | Speaks | Calls
//	bot:  the response, -3         ByAgent | Speaks | Responds
type Class uint8

const (
	// ByUser: the author is the user. Tool results and state changes that an app sends in the
	// user's name are included.
	ByUser Class = 1 << iota
	// ByAgent: the author is an agent. An event without an author is neither ByUser nor ByAgent.
	ByAgent
	// Speaks: the event has content or a transcription, so that it can be part of a prompt, as
	// opposed to an event that only changes state. The rule is that of
	// buildContentsDefaultWithCallSource in internal/llminternal/contents_processor.go, except that
	// content without a role counts too.
	Speaks
	// Message: the user's content. It may be the answer to a long-running call.
	Message
	// Calls: the event has a function call.
	Calls
	// Responds: the event has a function response.
	Responds
	// EndsTurn: the event may be the last of its turn. It speaks, is not the user's, and has
	// neither calls nor responses; or its responses are the answer themselves (SkipSummarization,
	// which exit_loop and agents used as tools set). An invocation may hold several such events.
	//
	// Event.IsFinalResponse in session/session.go is wider: it also holds for long-running calls
	// and for events that only change state.
	EndsTurn
	// Remote: the event came from a remote agent, over the A2A protocol.
	Remote
)

// Classify returns the class of an event, 0 for nil.
func Classify(ev *session.Event) Class {
	if ev == nil {
		return 0
	}
	var c Class
	switch ev.Author {
	case userAuthor:
		c |= ByUser
	case "":
	default:
		c |= ByAgent
	}
	parts := parts(ev)
	for _, part := range parts {
		if part != nil && part.FunctionCall != nil {
			c |= Calls
		}
		if part != nil && part.FunctionResponse != nil {
			c |= Responds
		}
	}
	if len(parts) > 0 || ev.InputTranscription != nil || ev.OutputTranscription != nil {
		c |= Speaks
	}
	if c.Is(ByUser) && len(parts) > 0 {
		c |= Message
	}
	if c.Is(Speaks) && !c.Any(ByUser|Calls) && (!c.Is(Responds) || ev.Actions.SkipSummarization) {
		c |= EndsTurn
	}
	for key := range ev.CustomMetadata {
		if IsRemoteKey(key) {
			c |= Remote
			break
		}
	}
	return c
}

// Is reports whether c has all of the given properties.
func (c Class) Is(all Class) bool { return c&all == all }

// Any reports whether c has one of the given properties.
func (c Class) Any(of Class) bool { return c&of != 0 }

// IsRemoteKey reports whether a key of CustomMetadata holds the context of a remote agent. ADK
// looks for it in the newest event of that agent to find the conversation on the other side:
// toMissingRemoteSessionParts in agent/remoteagent/v2/utils.go.
func IsRemoteKey(key string) bool { return strings.HasPrefix(key, remotePrefix) }
