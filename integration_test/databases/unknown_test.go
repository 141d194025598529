package databases_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// TestFieldsOfALaterADKAreCounted: apps may be newer than the command that archives their sessions. What it cannot copy must not
// be gone without a word when the session is deleted.
func TestFieldsOfALaterADKAreCounted(t *testing.T) {
	s := newStore(t, &postgreSQL)
	createSession(t.Context(), t, s.sessions, "one")
	resp, err := s.sessions.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	events := (&ct.History{}).Turns(3, "assistant").Events
	for i, ev := range everyField() {
		ev.Timestamp = events[len(events)-1].Timestamp.Add(time.Duration(i+1) * time.Hour)
		ev.ID = fmt.Sprint("full", i)
		ev.GroundingMetadata = &genai.GroundingMetadata{WebSearchQueries: []string{"q"}, GroundingChunks: []*genai.GroundingChunk{{Web: &genai.GroundingChunkWeb{URI: "u"}}}}
		ev.CitationMetadata = &genai.CitationMetadata{Citations: []*genai.Citation{{Title: "t"}}}
		events = append(events, ev)
	}
	for _, ev := range events {
		if err := s.sessions.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "archive.db")
	if code, out, errs := ran(t, "import", path, "--dsn", s.dsn()); code != 0 || strings.Contains(out, "not kept") {
		t.Fatalf("without such fields: exit code %d\n%s%s", code, out, errs)
	}
	s.exec(t,
		`UPDATE events SET content = jsonb_set(content, '{parts,0,hologram}', '{"a": 1}') WHERE id = 'e2'`,
		`UPDATE events SET usage_metadata = '{"dreamTokenCount": 3, "promptTokenCount": 2}' WHERE id = 'e4'`,
		`UPDATE events SET custom_metadata = '{"anything": {"is": "known"}}' WHERE id = 'e6'`)
	code, out, errs := ran(t, "import", filepath.Join(t.TempDir(), "later.db"), "--dsn", s.dsn())
	if code != 0 || !strings.Contains(out, "9 events") || !strings.Contains(out, "not kept: 2 events with fields that this version of ADK does not know") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	s.exec(t,
		`ALTER TABLE events ADD COLUMN hologram_json jsonb, ADD COLUMN aura text`,
		`UPDATE events SET hologram_json = '{"a": 1}', aura = '' WHERE id IN ('e2', 'e3')`)
	code, out, errs = ran(t, "import", filepath.Join(t.TempDir(), "wider.db"), "--dsn", s.dsn())
	if code != 0 || !strings.Contains(out, "not kept: 2 values of the column hologram_json that this version of ADK does not know") || strings.Contains(out, "aura") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, errs = ran(t, "audit", "export", "one", "--dsn", s.dsn())
	if code != 0 || strings.Count(out, "\n") != 9 || !strings.Contains(errs, "not kept: 2 values of the column hologram_json that this version of ADK does not know") || strings.Contains(errs, "aura") {
		t.Errorf("audit export: exit code %d\n%s", code, errs)
	}
}
