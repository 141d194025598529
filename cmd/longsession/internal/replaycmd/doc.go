// Package replaycmd is the command "longsession replay": it plays recorded conversations with and
// without compaction and reports the difference. docs/command.md is its manual.
//
// A run goes through these parts in order:
//
//   - flags (command.go, policy.go, prices.go, grid.go) are checked one by one as they are parsed.
//   - A plan (plan.go) checks them together and builds one policy, or one for each point of a grid.
//   - Inputs (input.go) yield conversations one at a time, from lines of JSON or a session file.
//   - Workers (workers.go) play them concurrently and return results in the order of the input.
//   - A report (report.go) writes each result as it comes: as tables (report_text.go, table.go,
//     grid_report.go, details.go) or as JSON (report_json.go).
//   - A page (page.go) and a store (store.go) are the files of --html and --db.
//
// All mistakes in flags and files are found before the first conversation is played, because a replay
// may take minutes. Package replay does the playing and the counting; this package decides on no
// number itself.
package replaycmd
