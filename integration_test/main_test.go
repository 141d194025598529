package integration_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage pile up: a quarter of the processor time went into collecting a heap that stays
// small in any case. GOGC in the environment decides otherwise.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// whole reports whether every case is to be played; otherwise a test may leave out those that hardly
// differ from others and are slow.
func whole() bool { return os.Getenv("LONGSESSION_SOAK") != "" }
