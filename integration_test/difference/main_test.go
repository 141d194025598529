// Package difference plays apps over bare ADK and over the compaction service, and compares what happens.
package difference_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// unsupported silences what ADK writes about the responses and authors that it passes over. It keeps the first line that
// ADK v2 writes when something asks the context of a callback or a tool for what such a context lacks.
type unsupported struct {
	mu    sync.Mutex
	first []byte
}

func (u *unsupported) Write(line []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.first == nil && bytes.Contains(line, []byte("is not supported for")) {
		u.first = bytes.Clone(line)
	}
	return len(line), nil
}

// TestMain fails if any app, in whatever layers, asked a context for what it lacks: ADK logs that for each request.
func TestMain(m *testing.M) {
	testkit.Quiet()
	asked := new(unsupported)
	log.SetOutput(asked)
	code := m.Run()
	if asked.first != nil {
		fmt.Fprintf(os.Stderr, "ADK logged: %s", asked.first)
		code = 1
	}
	os.Exit(code)
}
