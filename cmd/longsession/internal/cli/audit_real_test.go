package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// TestRealConversationsPassTheAudit: what the library does to conversations that nobody here wrote
// keeps all the rules, and an export of each is read back as a conversation.
func TestRealConversationsPassTheAudit(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("LONGSESSION_DATA")
	if folder == "" {
		t.Skip("LONGSESSION_DATA is not set: it names a folder with recorded conversations")
	}
	db := filepath.Join(t.TempDir(), "sessions.db")
	code, _, complaints := called(t.Context(), "replay", filepath.Join(folder, "coding_agent_sessions.jsonl"), "--context-window", "32000", "--limit", "6", "--quiet", "--db", db)
	if code != exit.CodeOK && code != exit.CodeFindings {
		t.Fatalf("replay: exit code %d: %s", code, complaints)
	}
	code, out, complaints := called(t.Context(), "audit", "verify", db)
	if code != exit.CodeOK || !strings.HasPrefix(out, "fine: ") || strings.Contains(out, " 0 compactions") {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
	_, out, _ = called(t.Context(), "audit", "list", db, "--json")
	sessions := 0
	for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		_, after, _ := strings.Cut(line, `"session":"`)
		id, _, _ := strings.Cut(after, `"`)
		file := filepath.Join(t.TempDir(), "events.jsonl")
		if code, _, complaints := called(t.Context(), "audit", "export", db, id, "-o", file); code != exit.CodeOK {
			t.Errorf("export of %s: exit code %d: %s", id, code, complaints)
		}
		if code, _, complaints := called(t.Context(), "audit", "diff", db, id, "--all", "--width", "120"); code != exit.CodeOK {
			t.Errorf("diff of %s: exit code %d: %s", id, code, complaints)
		}
		sessions++
	}
	if sessions < 3 {
		t.Errorf("%d sessions", sessions)
	}
}
