package summarizer

// Pack names a built-in wording of the prompt. The wordings are not exported, so that they can be
// improved.
type Pack string

// The packs.
const (
	// PackDefault asks for decisions, context, open questions and tool results.
	PackDefault Pack = "default"
	// PackHandover asks for five fixed sections, for an agent or person who continues the work.
	PackHandover Pack = "handover"
	// PackCheckpoint asks for six fixed sections about a finished task.
	PackCheckpoint Pack = "checkpoint"
	// PackIntent asks for two or three sentences on what the user wants.
	PackIntent Pack = "intent"
)

// Known reports whether p is one of the packs. "" is not.
func (p Pack) Known() bool {
	_, known := packs[p]
	return known
}

// placeholder marks where a template takes the recorded conversation.
const placeholder = "{{history}}"

// verbatim is part of every pack. Without these rules, a summary keeps the topics and loses the
// facts.
const verbatim = `Rules for all of it:
- Carry over verbatim every concrete value that the user or a tool stated: names, numbers, amounts, dates, times, file paths, ids, URLs, addresses, settings, error messages. Never round, translate or paraphrase such a value. If room is short, drop explanations before you drop values.
- Name every tool exactly as it is named in the record, and say what it returned.
- State only what the record says. Where it corrects itself, keep the newest value and say that it was corrected.
- Keep who said what apart: the user's wishes, the assistant's answers, a tool's results.
`

// language comes first in every pack. Otherwise models tend to summarize a long record in the
// language of the instructions instead of the record's.
const language = `Write in the language in which the user speaks in the record. The first line of your answer is "Language: " followed by the name of that language.
`

var packs = map[Pack]string{
	PackDefault: `Below is the record of a conversation between a user and an assistant that uses tools. Your summary takes its place: whoever continues the conversation will see the summary and not the record.

` + language + `
Then summarize concisely:
1. Key decisions and outcomes, each with its reason if one was given.
2. Important context and state changes: facts about the user and the task, preferences, constraints, what is different now.
3. Unresolved questions and pending tasks, and who waits for whom.
4. Tool calls and their results, failures included.

` + verbatim + `
` + placeholder,

	PackHandover: `Below is the record of work that an assistant does for a user. Somebody else takes over from here, with your handover and without the record.

` + language + `
Then write exactly these five sections, with these headings:
# Current state
The user's request in the user's own words. What is completed, what is in progress, what remains. Blockers.
# Files & changes
Each file that was modified or read, with its path and line numbers, and what was changed in it or learned from it.
# Technical context
Decisions and their reasons, settings, versions and environment. Commands that worked, and commands that failed with their messages.
# Strategy & approach
The approach that was chosen and why, alternatives that were rejected and why, and pitfalls found on the way.
# Exact next steps
A numbered list of what to do next, concrete enough to be started without asking.

` + verbatim + `
` + placeholder,

	PackCheckpoint: `Below is the record of a task that is now finished. Write the account of it that stays in the conversation in place of the record.

` + language + `
Then write exactly these six sections, with these headings:
# Task
What was asked for, in the user's own words, and what came out of it.
# Files & changes
Each file that was changed, with path, line numbers and the change. Files that were considered and NOT changed, and why.
# Technical context
Decisions and their reasons, settings, versions, commands that worked or failed.
# Strategy & approach
The approach that was taken and why, alternatives that were rejected and why, and pitfalls.
# Verification & next steps
What was verified and how. What is known to be good without having been verified. What should follow.
# Where we are
What the operator and you both know right now.

` + verbatim + `
` + placeholder,

	PackIntent: `Below is the record of a conversation between a user and an assistant.

Summarize the user's intent in 2-3 sentences: what the user wants to reach, under which conditions, and what of it is still open. Write in the language in which the user speaks in the record, and nothing but those sentences.

` + verbatim + `
` + placeholder,
}
