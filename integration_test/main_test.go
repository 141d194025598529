package integration_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// TestMain lets garbage pile up, to a gigabyte at most: a quarter of the processor time went into collecting
// a heap that stays small in any case. GOGC in the environment decides otherwise, and the race detector
// needs the memory itself.
func TestMain(m *testing.M) {
	testkit.Quiet()
	if os.Getenv("GOGC") == "" && !testkit.Race {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 30)
	}
	os.Exit(m.Run())
}
