package gemini_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// breakdown is a failure of an agent's call to the Gemini API.
type breakdown struct {
	name  string
	reply reply
	// fails and failsStreamed are true if the turn ends with an error, by mode. Otherwise it ends
	// with an event that has the error code, if any.
	fails, failsStreamed bool
	code                 string
}

func breakdowns() []breakdown {
	const half = "I have begun to write that down, but before I could come to the end of it, there was"
	limit, unsafe, torn, dry := say(half), say(half), say(half), say(half)
	limit.finish, unsafe.finish = "MAX_TOKENS", "SAFETY"
	torn.cut, dry.cut = withinChunk, betweenChunks
	return []breakdown{
		{name: "quota exhausted", reply: refuse(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), fails: true, failsStreamed: true},
		{name: "internal error", reply: refuse(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred."), fails: true, failsStreamed: true},
		{name: "prompt blocked", reply: reply{feedback: "PROHIBITED_CONTENT"}, fails: true, code: "PROHIBITED_CONTENT"},
		{name: "no candidates", reply: reply{empty: true}, fails: true},
		{name: "unsafe, without a word", reply: reply{finish: "SAFETY"}, code: "SAFETY"},
		{name: "unsafe, in mid-sentence", reply: unsafe},
		{name: "cut at the token limit", reply: limit},
		{name: "spends all tokens on thoughts", reply: reply{finish: "MAX_TOKENS"}, code: "MAX_TOKENS"},
		{name: "says nothing", reply: reply{}},
		{name: "connection lost in a chunk", reply: torn, fails: true, failsStreamed: true},
		// The client of ADK v1 takes the end of a streaming connection for the end of the answer.
		{name: "connection lost between chunks", reply: dry, fails: true, failsStreamed: adk.Major == 2},
		{name: "a malformed call", reply: reply{finish: "MALFORMED_FUNCTION_CALL"}, code: "MALFORMED_FUNCTION_CALL"},
	}
}

// The failure comes from the model; the service adds no error and hides none. Whatever the failed
// turn left behind, Gemini accepts the next request.
func TestAfterAFailureOfTheAgentTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for _, b := range breakdowns() {
		for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
			t.Run(b.name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				a := simple(t, nil)
				a.mode = mode
				fails := b.fails
				if mode == agent.StreamingModeSSE {
					fails = b.failsStreamed
				}
				for i := range 12 {
					if i%4 == 1 {
						a.will(assistant, a.lookups(true, 2)) // fails in the middle of a turn
					}
					if i%2 == 0 {
						a.chat(1)
						continue
					}
					a.will(assistant, b.reply)
					events, err := a.try()
					b.check(t, events, err, fails)
				}
				a.chat(10)
				a.verify(3)
			})
		}
	}
}

func (b breakdown) check(t *testing.T, events []*session.Event, err error, fails bool) {
	t.Helper()
	if (err != nil) != fails {
		t.Errorf("error %v, want one: %t", err, fails)
	}
	if !fails && b.code != "" && (len(events) == 0 || events[len(events)-1].ErrorCode != b.code) {
		t.Errorf("%d events; the last does not have code %q", len(events), b.code)
	}
	var refused genai.APIError
	if b.reply.status != 0 && (!errors.As(err, &refused) || refused.Code != b.reply.status) {
		t.Errorf("error %v, want the API's error with code %d", err, b.reply.status)
	}
}

// The user hangs up while the model is thinking, in the first request of a turn and after a tool.
func TestAfterATurnThatWasGivenUpTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			a := simple(t, nil)
			a.mode = mode
			for i := range 6 {
				a.chat(1)
				if i%2 == 0 {
					a.will(assistant, a.lookups(false, 1))
				}
				a.will(assistant, reply{hang: true})
				ctx, hangUp := context.WithCancel(t.Context())
				go func() {
					<-a.waiting
					hangUp()
				}()
				if _, err := a.send(ctx, genai.NewContentFromText("What was the first code?", genai.RoleUser)); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want that of the context", err)
				}
			}
			a.chat(8)
			a.verify(2)
		})
	}
}
