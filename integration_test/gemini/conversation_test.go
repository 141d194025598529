package gemini_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
)

// TestLongConversationsStayValidForGemini: fifty turns of chat and tools, one and several calls at
// once, with and without IDs; the same client answers and writes the summaries. The server judges
// every request and looks for every fact in it.
func TestLongConversationsStayValidForGemini(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name   string
		open   func(*testing.T) session.Service
		stream agent.StreamingMode
		ids    bool
		turns  int
	}{
		{"in memory", inMemory, agent.StreamingModeNone, false, 50},
		{"in memory, with call IDs", inMemory, agent.StreamingModeNone, true, 50},
		{"in memory, streamed", inMemory, agent.StreamingModeSSE, false, 50},
		{"in memory, streamed, with call IDs", inMemory, agent.StreamingModeSSE, true, 50},
		{"database", onSQLite, agent.StreamingModeNone, false, 30},
		{"database, streamed, with call IDs", onSQLite, agent.StreamingModeSSE, true, 30},
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
				t.Errorf("%d summaries stored, %d asked for", stored, asked)
			}
		})
	}
}

// checkStreams: agents' requests were streamed if and only if that was asked for.
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

// onSQLite is ADK's database service on a SQLite file.
func onSQLite(t *testing.T) session.Service {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=busy_timeout(5000)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)&_pragma=foreign_keys(1)", path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	service, err := database.NewSessionService(&sqlite.Dialector{Conn: db}, &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
	if err != nil {
		t.Fatal(err)
	}
	if err := database.AutoMigrate(service); err != nil {
		t.Fatal(err)
	}
	return service
}
