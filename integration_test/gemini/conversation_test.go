package gemini_test

import (
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// The session has fifty turns of chat and tools, with single and parallel calls, with and without
// IDs. The same client answers and writes the summaries. The server validates every request and
// looks for every fact in it.
func TestLongConversationsStayValidForGemini(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name   string
		open   func(*testing.T) session.Service
		stream agent.StreamingMode
		ids    bool
		turns  int
	}{
		{name: "in memory", open: inMemory, stream: agent.StreamingModeNone, turns: 50},
		{name: "in memory, with call IDs", open: inMemory, stream: agent.StreamingModeNone, ids: true, turns: 50},
		{name: "in memory, streamed", open: inMemory, stream: agent.StreamingModeSSE, turns: 50},
		{name: "in memory, streamed, with call IDs", open: inMemory, stream: agent.StreamingModeSSE, ids: true, turns: 50},
		{name: "database", open: onDatabase, stream: agent.StreamingModeNone, turns: 30},
		{name: "database, streamed, with call IDs", open: onDatabase, stream: agent.StreamingModeSSE, ids: true, turns: 30},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, nil)
			a.inner, a.mode = variant.open(t), variant.stream
			a.start(a.agent("assistant", assistant, []tool.Tool{a.lookup()}))
			for i := range variant.turns {
				for range i % 3 {
					a.will(assistant, a.lookups(variant.ids, 1+i%4))
				}
				a.chat(1)
			}
			a.verify(variant.turns / 6)
			a.checkStreams(variant.turns)
			if asked, stored := len(a.received(true)), len(a.log.of(compaction.Stored)); asked != stored {
				t.Errorf("%d summaries stored, %d requested", stored, asked)
			}
		})
	}
}

// checkStreams checks that agents' requests were streamed only in streaming mode.
func (a *app) checkStreams(atLeast int) {
	a.t.Helper()
	requests := a.received(false)
	for _, r := range requests {
		if r.stream != (a.mode == agent.StreamingModeSSE) {
			a.t.Errorf("a request was streamed: %t, in mode %s", r.stream, a.mode)
		}
	}
	if len(requests) < atLeast {
		a.t.Errorf("%d requests, want at least %d", len(requests), atLeast)
	}
}

func inMemory(*testing.T) session.Service { return session.InMemoryService() }

// onDatabase returns ADK's database service on a SQLite file.
func onDatabase(t *testing.T) session.Service {
	t.Helper()
	return storages.Database(t).Open(t)
}
