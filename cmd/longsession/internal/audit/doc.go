// Package audit reads a session file of package persistence: what was said, what the model sees of
// it, which compactions were made, and whether the file is consistent. It cannot write to the file.
// Package auditcmd is its only user: it turns flags into calls and results into text or JSON.
//
// [Open] opens a file. Each question is then a method of [File]:
//
//   - [File.Sessions], [File.Find] and [File.Size] list sessions, [File.Overview] sums one up.
//   - [File.Rows] reads the stored events in pages, [File.View] what the model sees of them.
//   - [File.Compactions] and [File.Replacements] explain the records.
//   - [File.Verify] checks the file, [File.Seal] and [File.Against] compare it with an earlier state.
//   - [Prices.Costs] adds up what a session and its subtasks cost, [Prices.Activity] what was done to
//     keep it short.
//   - [File.Export] writes a session for people or other programs, without private data.
//
// A method that needs the whole session loads it and its view in one snapshot, so an app that writes
// at the same time cannot make the two disagree. The view comes from the library's own code. The
// checks do not trust that code: they work out what the file should hold from the stored events and
// records alone, by the rules of docs/schema.md, and compare.
package audit
