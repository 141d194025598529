package integration_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage pile up, to a gigabyte at most: a quarter of the processor time went into collecting
// a heap that stays small in any case. GOGC in the environment decides otherwise, and the race detector
// needs the memory itself.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" && !raced {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 30)
	}
	os.Exit(m.Run())
}

// whole reports whether every case is to be played; otherwise a test may leave out those that hardly
// differ from others and are slow.
func whole() bool { return os.Getenv("LONGSESSION_SOAK") != "" }
