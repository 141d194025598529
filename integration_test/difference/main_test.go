// Package difference plays apps over bare ADK and over the compaction service, and compares what happens.
package difference_test

import (
	"io"
	"log"
	"os"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// TestMain silences what ADK writes about the responses and authors that it passes over.
func TestMain(m *testing.M) {
	testkit.Quiet()
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}
