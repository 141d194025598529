package integration_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// TestMain lets garbage accumulate up to four gigabytes: the histories of all tests are in memory at once, and
// below a limit that they nearly fill the collector takes half of the processor time. GOGC in the environment
// has priority. The race detector needs the memory itself.
func TestMain(m *testing.M) {
	testkit.Quiet()
	if os.Getenv("GOGC") == "" && !testkit.Race {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(4 << 30)
	}
	os.Exit(m.Run())
}
