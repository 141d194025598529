//go:build race

package integration_test

// raced says that the race detector is on. It takes ten times as long and looks for what goroutines do to
// each other, so with it only those modes run in which compactions run beside turns, and sweeps take
// larger steps.
const raced = true
