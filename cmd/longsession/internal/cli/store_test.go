package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// shopFile is a session file that an app keeps: one session, and state of the whole app if
// withState.
func shopFile(t *testing.T, withSession, withState bool) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.db")
	stored, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]any{}
	if withState {
		state["app:currency"] = "EUR"
	}
	if _, err := stored.Create(t.Context(), &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: "order-1", State: state}); err != nil {
		t.Fatal(err)
	}
	if !withSession {
		if err := stored.Delete(t.Context(), &session.DeleteRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReplayKeepsOutOfTheFileOfAnotherApp(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"its sessions":       shopFile(t, true, false),
		"its state":          shopFile(t, false, true),
		"both":               shopFile(t, true, true),
		"a link to the file": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if file == "" {
				target := shopFile(t, true, false)
				file = filepath.Join(filepath.Dir(target), "link.db")
				if err := os.Symlink(target, file); err != nil {
					t.Skip(err)
				}
			}
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			end := replayed(t.Context(), playsFine, strings.NewReader(talks("a")), "-", "--db", file)
			if want := "longsession: --db " + file + ` holds data of another app ("shop"): name a new file; --force adds the sessions of this run, as app "replay", and changes no existing data` + "\n"; end.code != exit.CodeUsage || end.stderr != want {
				t.Errorf("exit code %d, stderr %q, want %q", end.code, end.stderr, want)
			}
			after, err := os.ReadFile(file)
			if err != nil || string(after) != string(before) {
				t.Errorf("the file changed (%v)", err)
			}
			if end.stdout != "" {
				t.Errorf("it began to report:\n%s", end.stdout)
			}
		})
	}
}

func TestForceAddsSessionsAndLeavesThoseOfTheApp(t *testing.T) {
	t.Parallel()
	file := shopFile(t, true, true)
	if end := replayed(t.Context(), replay.Compare, strings.NewReader(talks("a")), "-", "--db", file, "--force"); end.code != exit.CodeOK {
		t.Fatalf("exit code %d, stderr %q", end.code, end.stderr)
	}
	if got := storedIn(t, file); got != "[a]" {
		t.Errorf("app %s has the sessions %s, want [a]", replay.AppName, got)
	}
	stored, err := persistence.NewSQLiteSessionService(file, persistence.WithReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	got, err := stored.Get(t.Context(), &session.GetRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"})
	if err != nil {
		t.Fatal(err)
	}
	if currency, err := got.Session.State().Get("app:currency"); err != nil || currency != "EUR" {
		t.Errorf("the app's state is %v (%v)", currency, err)
	}
	// It also forces nothing else: a session of the same name is still refused.
	end := replayed(t.Context(), playsFine, strings.NewReader(talks("a")), "-", "--db", file, "--force")
	if end.code != exit.CodeUsage || !strings.Contains(end.stderr, "already has a session replay/replay/a:") {
		t.Errorf("exit code %d, stderr %q", end.code, end.stderr)
	}
}

// A file of the first version, older or not, is not brought up to date for a look at it.
func TestFileOfTheFirstVersionNeedsForce(t *testing.T) {
	t.Parallel()
	file := shopFile(t, true, false)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 1"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	end := replayed(t.Context(), playsFine, strings.NewReader(talks("a")), "-", "--db", file)
	if end.code != exit.CodeUsage || !strings.Contains(end.stderr, "--force") {
		t.Errorf("exit code %d, stderr %q", end.code, end.stderr)
	}
}

func TestForceNeedsAFile(t *testing.T) {
	t.Parallel()
	end := replayed(t.Context(), playsFine, strings.NewReader(talks("a")), "-", "--force")
	if end.code != exit.CodeUsage || !strings.Contains(end.stderr, "--force without --db") {
		t.Errorf("exit code %d, stderr %q", end.code, end.stderr)
	}
}

// A file of another app may take the place of a file that was not there when the run began.
func TestFileOfAnotherAppThatAppearsMeanwhileIsRefused(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(shopFile(t, true, false))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "new.db")
	end := replayed(t.Context(), playsFine, &meddling{Reader: strings.NewReader(talks("a")), file: file, data: source}, "-", "--db", file)
	if end.code != exit.CodeUsage || !strings.Contains(end.stderr, `holds data of another app ("shop")`) {
		t.Errorf("exit code %d, stderr %q", end.code, end.stderr)
	}
	if got := storedIn(t, file); got != "[]" {
		t.Errorf("the run stored %s", got)
	}
}
