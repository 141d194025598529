// Package cli is the command longsession as a function. It has the root command, the help, and the
// errors for commands and flags that do not exist; each subcommand has a package of its own.
// docs/command.md is the manual, and the scripts in testdata/script run its examples.
package cli
