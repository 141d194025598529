// Package recall lets a model search the raw history of its session. After hundreds of turns, summaries hold
// a small part of the exact things that were said. Storage still has all of them, and one call of the tool
// recall finds them.
//
// The search is lexical: it knows the words of each message, the author and the day, and needs no embeddings
// and no second database. Package recall/index says how messages are ranked.
//
// What comes back is quoted, cut to a size, and from this session only. Which session that is follows from
// the run that calls the tool, never from its arguments. An agent finds what its prompts may show: its branch
// and those above it. What the prompt shows already is left out, and so are earlier answers of recall itself.
//
// To add it to an app, give [Recaller.Tools] to the agent, and set compaction.Config.RecallTool to
// [ToolName], so that the summaries say that there is more. A stack of package longsession does both unless
// Config.Recall.Disabled is set.
package recall
