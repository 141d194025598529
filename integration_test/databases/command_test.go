package databases_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
)

// commandDir is the folder of the command, "" until it is built. TestMain removes it.
var commandDir string

// build returns the command longsession, which is built once. The test binary cannot be it: the command's packages are
// its own.
var build = sync.OnceValues(func() (exe string, err error) {
	if commandDir, err = os.MkdirTemp("", "longsession"); err != nil {
		return "", err
	}
	exe = filepath.Join(commandDir, "longsession")
	if out, err := exec.Command("go", "build", "-o", exe, "github.com/adk-go-ext/longsession/cmd/longsession").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return exe, nil
})

// prepared is a run of the command.
func prepared(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), exe, args...)
}

// ran runs the command and returns its exit code, what it wrote, and what it complained about.
func ran(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := prepared(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestTheCommandExportsAndImports(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := fileWithTurns(t, 12, "one", "two")

	code, out, errs := ran(t, "export", path, "--dsn", s.dsn(), "--dry-run")
	if code != 0 || !strings.Contains(out, "2 sessions, ") || !strings.Contains(out, "0 are there; nothing was written") {
		t.Fatalf("dry run: exit code %d\n%s%s", code, out, errs)
	}
	if _, err := s.sessions.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "one"}); err == nil {
		t.Fatal("a dry run has written")
	}
	code, out, errs = ran(t, "export", path, "one", "--dsn", s.dsn())
	if code != 0 || !strings.Contains(out, "1 session, ") || !strings.Contains(out, "events, state and views are the same") {
		t.Fatalf("export: exit code %d\n%s%s", code, out, errs)
	}
	want, wantState := shownBy(t, opened(t, path), "one")
	if got, state := shownBy(t, s.sessions, "one"); !slices.Equal(got, want) || !sameState(state, wantState) {
		t.Errorf("the database shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	code, out, errs = ran(t, "export", path, "--dsn", s.dsn(), "--json")
	var copied []int
	for line := range strings.Lines(out) {
		var result struct {
			Session  string
			Events   int
			Copied   int
			Digest   string
			Findings []string
		}
		if err := json.Unmarshal([]byte(line), &result); err != nil || result.Digest == "" || len(result.Findings) != 0 {
			t.Errorf("%q: %v", line, err)
		}
		copied = append(copied, result.Copied)
	}
	if code != 0 || len(copied) != 2 || copied[0] != 0 || copied[1] == 0 {
		t.Errorf("the rest: exit code %d, %v\n%s%s", code, copied, out, errs)
	}

	back := filepath.Join(t.TempDir(), "back.db")
	if code, out, errs = ran(t, "import", back, "--dsn", s.dsn()); code != 0 || !strings.Contains(out, "2 sessions, ") {
		t.Fatalf("import: exit code %d\n%s%s", code, out, errs)
	}
	if code, out, errs = ran(t, "audit", "verify", back); code != 0 {
		t.Errorf("what came back: exit code %d\n%s%s", code, out, errs)
	}
	if got, state := shownBy(t, opened(t, back), "one"); !slices.Equal(got, want) || !sameState(state, wantState) {
		t.Errorf("what came back shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAnAuditReadsTheDatabase, and says of a session what it says of the same session in a file.
func TestAnAuditReadsTheDatabase(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := fileWithTurns(t, 12, "one", "two")
	if code, out, errs := ran(t, "export", path, "--dsn", s.dsn()); code != 0 {
		t.Fatalf("export: exit code %d\n%s%s", code, out, errs)
	}
	for _, name := range []string{"context", "compactions", "diff", "verify", "costs", "activity"} {
		_, want, _ := ran(t, "audit", name, path, "one")
		code, got, errs := ran(t, "audit", name, "--dsn", s.dsn(), "one")
		if code != 0 || withoutTimes(got) != withoutTimes(want) || got == "" {
			t.Errorf("%s: exit code %d, %s\n%s\nwant\n%s", name, code, errs, got, want)
		}
	}
	if code, out, errs := ran(t, "audit", "list", "--dsn", s.dsn(), "--json"); code != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("list: exit code %d\n%s%s", code, out, errs)
	}
	if code, _, errs := ran(t, "audit", "context", "--dsn", s.dsn(), "three"); code != 2 || !strings.Contains(errs, `"three"`) {
		t.Errorf("no such session: exit code %d, %s", code, errs)
	}
}

// withoutTimes leaves out times of the day, which PostgreSQL keeps to the microsecond, and ages.
func withoutTimes(text string) string {
	return regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?|\d+s ago`).ReplaceAllString(text, "TIME")
}

// TestASessionThatWentOnElsewhereIsAFinding, and it is left alone.
func TestASessionThatWentOnElsewhereIsAFinding(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := fileWithTurns(t, 3, "one")
	if code, out, errs := ran(t, "export", path, "--dsn", s.dsn()); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	resp, err := s.sessions.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: userID, SessionID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range (&ct.History{}).Turn("later", "assistant", "Is it so?", "It is.").Events {
		ev.Timestamp = resp.Session.LastUpdateTime().Add(1e9)
		if err := s.sessions.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := ran(t, "export", path, "--dsn", s.dsn())
	if code != 1 || !strings.Contains(out, "has gone on in the") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// TestAKilledExportGoesOn: the process is killed when a part is stored, and the same command copies the rest.
func TestAKilledExportGoesOn(t *testing.T) {
	s := newStore(t, &postgreSQL)
	path := filepath.Join(t.TempDir(), "long.db")
	stored, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := stored.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: "long"})
	if err != nil {
		t.Fatal(err)
	}
	const turns = 2_000
	for _, ev := range (&ct.History{}).Turns(turns, "assistant").Events {
		if err := stored.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	db := s.pool(t)
	count := func() (n int) {
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	cmd := prepared(t, "export", path, "--dsn", s.dsn())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for count() == 0 {
		select {
		case err := <-ended:
			t.Fatalf("the command has ended and nothing is stored: %v", err)
		default:
		}
	}
	_ = cmd.Process.Kill() // it may have ended
	<-ended
	part := count()
	code, out, errs := ran(t, "export", path, "--dsn", s.dsn())
	if code != 0 || !strings.Contains(out, "events, state and views are the same") || count() != 2*turns {
		t.Errorf("after a kill at %d events: exit code %d, %d events\n%s%s", part, code, count(), out, errs)
	}
}
