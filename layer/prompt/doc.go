// Package prompt builds system instructions that a provider's prompt cache can keep: what changes least
// comes first, and what changes often comes last, behind the conversation.
//
// The parts of a prompt have a fixed order:
//
//	1  base        the agent's own instruction, as ADK has built it
//	2  project     files such as AGENTS.md
//	3  memories    what is known from earlier sessions
//	4  skills      what the agent can load
//	   the conversation
//	5  scratchpad  the agent's notes
//	6  status      what is going on now
//
// A provider caches a prompt from its first byte to the first one that differs, and the system instruction
// comes before the whole conversation. So one changed byte in sections 1 to 4 has everything behind it read
// anew. Sections 5 and 6 are at the end of the request instead, where a change costs nothing.
//
// The app fills each section with a [Source]. For example:
//
//	builder, err := prompt.New(prompt.Config{Project: loader, Memories: memories, Status: build})
//	model := builder.Model(llm)           // for llmagent.Config
//	plugins := []*plugin.Plugin{builder.Plugin(), ownPlugin, builder.MessagePlugin()}
//
// The front door of this module, package longsession, does this for an app.
//
// # When a section changes
//
// The sources of sections 2 to 4 are asked once per run of a runner, before its first agent starts. All agents
// and sub-agents of the run are told the same, in every step. An agent that runs as a tool has a run of its own.
// Each section is a part of the system instruction, behind the parts that ADK has made, and so one that changes
// leaves those before it alone. [Builder] reports the change with the name of the section ([Changed]), and
// package budget does so for every broken prefix. A change of the base is ADK's or the agent's own: see
// budget.CauseInstruction.
//
// # Scratchpad and status
//
// A new text is written where the conversation ends: into the newest tool result, under [ScratchpadKey] and
// [StatusKey], or behind the user's message, as a part of its own. It is stored there, so that later requests
// extend this one, in every process. A text that has not changed is repeated only after 20 events. Each note
// says that it comes from the app. Nobody else can write one: what a tool returns under these keys is renamed,
// and in the user's text and in all texts of a result the bracket that opens a note becomes a parenthesis. Package toolresult keeps notes when
// it cuts or masks a result. They are stored with the conversation, so interfaces that show the history to
// people show them too.
//
// In an app with a workflow of ADK v2, whose input is the text of the user's message, notes are in tool results
// alone, so an agent has none in its first step.
//
// There are none in live runs, where an event is on its way to the model already, and in agents that run as
// tools, whose sessions no plugin sees.
//
// # If something fails
//
// No error comes from a builder once it is made. A source that fails leaves its section as it was in this
// session, or out of it. A request to which nothing can be added is sent as ADK has built it.
//
// # Break points
//
// Providers such as Anthropic cache a prompt up to points that the caller marks. Adapters find them in the
// context of a model call: see [Breakpoints]. Those of other providers ignore them.
package prompt
