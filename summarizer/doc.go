// Package summarizer turns a window of a session's events into one piece of prose.
//
// Three ways lead to a summary:
//
//   - [LLM] asks a model. It renders the window as a [Transcript], one line for each part, and
//     refuses every answer that is not a finished piece of prose.
//   - [Extractive] picks the sentences richest in concrete values. It needs no model, and the same
//     request always gives the same text.
//   - [Func] adapts a function of your own.
//
// [Check] tells a summary from a worthless text: a refusal, an empty shell, a few words for a long
// window. LLM applies it to its answers, and package compaction to those of every summarizer.
//
// A summarizer gets copies and returns content and usage. It never makes an event: authorship,
// coverage and storage are the caller's, so a summarizer (or a model that was talked into something)
// cannot reach them.
//
// Two promises carry the package. Nothing is left out of a transcript: what does not fit is cut
// inside its line, and a window that does not fit even then is refused with [ErrTooLong], so that
// the caller takes a smaller one ([Cost] says how small). And no content can forge a line: every
// value, including names of authors and tools and MIME types, is escaped.
package summarizer
