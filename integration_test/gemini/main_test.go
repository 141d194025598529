// Package gemini_test runs ADK's real Gemini client, as agent and as summarizer, over a compacting
// session service. A local server imitates the wire format of the Gemini API.
//
// The server answers from a script: text, streams, tool calls, and every kind of failure. Before it
// answers, it validates each request by the rules of the API, and rejects a request that violates
// them, as Gemini would. No request leaves the machine.
package gemini_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// An abandoned summarizer call must end together with its connection.
func TestMain(m *testing.M) {
	testkit.Quiet()
	goleak.VerifyTestMain(m)
}
