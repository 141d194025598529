//go:build !race

package integration_test

// raced says that the race detector is on; see race_on_test.go.
const raced = false
