package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

func TestAFileWithoutItsLogIsReadAndSaidToBeIncomplete(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: "s1"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(t.TempDir(), "half.db")
	if err := os.WriteFile(half, data, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, complaints := called(t.Context(), "audit", "list", half)
	if code != exit.CodeOK || strings.Contains(out, "s1") || !strings.Contains(complaints, "write-ahead log is missing") || strings.Count(complaints, "\n") != 1 {
		t.Errorf("list: exit code %d\n%s%s", code, out, complaints)
	}
	code, out, complaints = called(t.Context(), "audit", "verify", half)
	if code != exit.CodeFindings || !strings.HasPrefix(out, "the file: log: its write-ahead log is missing: ") || complaints != "longsession: 1 finding\n" {
		t.Errorf("verify: exit code %d\n%s%s", code, out, complaints)
	}
	code, out, complaints = called(t.Context(), "audit", "verify", path)
	if code != exit.CodeOK || strings.Contains(out+complaints, "log is missing") {
		t.Errorf("verify with the log: exit code %d\n%s%s", code, out, complaints)
	}
}
