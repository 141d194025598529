//go:build race

package testkit

// Race reports whether the race detector is on. With it code runs some ten times slower, and a test is
// there to show what goroutines do to each other. So tests leave out what runs in one goroutine at a
// time, and what would only add storages, sizes or repetitions.
const Race = true
