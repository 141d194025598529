package integration_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// TestMain lets garbage accumulate up to a gigabyte, because collecting a heap that stays small
// took a quarter of the processor time. GOGC in the environment has priority. The race detector
// needs the memory itself.
func TestMain(m *testing.M) {
	testkit.Quiet()
	if os.Getenv("GOGC") == "" && !testkit.Race {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 30)
	}
	os.Exit(m.Run())
}
