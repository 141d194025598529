// Package auditcmd is the command "longsession audit": its subcommands show what a session file of
// package persistence holds and what the model sees of it, check the file, seal it, and export
// sessions. docs/command.md is the manual; package audit does the reading.
package auditcmd
