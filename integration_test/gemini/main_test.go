// Package gemini_test runs ADK's real Gemini client, as agent and as summarizer, over a compacting
// session service, against a local server that speaks the wire format of the Gemini API.
//
// The server answers from a script: text, streams, tool calls, and all that can go wrong. It judges
// every request by the rules of the API before it answers, and refuses one that breaks them, as
// Gemini would. Nothing here leaves the machine.
package gemini_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// A summarizer call that was given up must end with its connection.
func TestMain(m *testing.M) {
	testkit.Quiet()
	goleak.VerifyTestMain(m)
}
