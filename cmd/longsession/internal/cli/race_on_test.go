//go:build race

package cli

// raceDetector reports whether the tests run with the race detector, which makes them ten times
// slower.
const raceDetector = true
