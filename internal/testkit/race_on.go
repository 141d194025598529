//go:build race

package testkit

// Race reports whether the race detector is on. With it, code runs some ten times slower, and the
// point of a test is how goroutines interact. So tests leave out parts that run in one goroutine at
// a time, or only add storages, sizes or repetitions.
const Race = true
