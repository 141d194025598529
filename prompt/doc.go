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
// The app fills each section with a [Source].
package prompt
