// Package difference plays apps over bare ADK and over the compaction service, and compares what happens.
package difference_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"
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

// tally is how much was compared without a difference. An app that ADK itself does not play alike each time is undecided,
// and counts as nothing else.
type tally struct {
	mu                                                                      sync.Mutex
	apps, undecided, turns, failed, requests, facts, tools, events, records int
}

var compared tally

// add counts an app by its bare play, with what is stored of the wrapped one. facts are those that no request may lack.
func (c *tally) add(a app, bare *played, facts, records int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apps++
	c.turns += len(a.turns)
	c.requests += len(bare.requests)
	c.facts += facts
	c.events += len(bare.stored)
	c.records += records
	for _, line := range bare.lines {
		switch {
		case strings.HasPrefix(line, "error: "):
			c.failed++
		case isToolRun(line):
			c.tools++
		}
	}
}

func (c *tally) leaveOut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undecided++
}

func (c *tally) String() string {
	return fmt.Sprintf("alike bare and wrapped: %d apps with %d turns (%d of them failed), %d requests (%d facts looked for), %d runs of tools and %d stored events, "+
		"while %d summaries were stored; %d apps undecided", c.apps, c.turns, c.failed, c.requests, c.facts, c.tools, c.events, c.records, c.undecided)
}

// TestMain fails if any app, in whatever layers, asked a context for what it lacks: ADK logs that for each request.
func TestMain(m *testing.M) {
	testkit.Quiet()
	asked := new(unsupported)
	log.SetOutput(asked)
	code := m.Run()
	if testing.Verbose() {
		fmt.Println(&compared)
	}
	if asked.first != nil {
		fmt.Fprintf(os.Stderr, "ADK logged: %s", asked.first)
		code = 1
	}
	os.Exit(code)
}
