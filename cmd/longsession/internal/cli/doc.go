// Package cli is the command longsession as a function. docs/command.md is its manual, and the scripts
// in testdata/script run it.
package cli
