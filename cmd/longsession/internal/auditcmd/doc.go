// Package auditcmd is the command "longsession audit": its subcommands show what a session file of
// package persistence holds and what the model sees of it, check the file, seal it, and export
// sessions. docs/command.md is the manual; package audit does the reading.
//
// A subcommand is a function that describes its flags and gives its work to newCommand, which finds
// its help in the file of the same name in the folder help. The work gets an open file, often a
// session, and an output, which writes text for people or, with --json, one object per line.
//
// To add a column to "audit list", add a row to sessionColumns in table.go, and name the field of its
// JSON in help/list.txt.
package auditcmd
