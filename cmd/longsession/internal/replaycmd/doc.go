// Package replaycmd is the command "longsession replay": it plays recorded conversations with and
// without compaction and reports the difference. docs/command.md is its manual.
//
// A run begins as a plan, which checks every flag before any conversation is read. Workers then
// play the conversations, and a report writes the results in the order of the input.
package replaycmd
