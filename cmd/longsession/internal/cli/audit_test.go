package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// storeSession makes a session file with a history under the given names, and damages it.
func storeSession(t *testing.T, h *ct.History, app, user, id string, damage ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	storeIn(t, path, h, app, user, id, damage...)
	return path
}

// storeIn adds a session to a file, or makes the file, and damages it.
func storeIn(t *testing.T, path string, h *ct.History, app, user, id string, damage ...string) {
	t.Helper()
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range h.Events {
		if err := s.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range damage {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// called runs a command and returns its exit code and what it wrote.
func called(ctx context.Context, args ...string) (code int, out, complaints string) {
	var stdout, stderr bytes.Buffer
	code = Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestFindingsEndWithOneAndALineForEachCause(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2"), "shop", "ada", "s1", "UPDATE events SET covered_by = 'r1' WHERE seq = 4")
	code, out, complaints := called(t.Context(), "audit", "verify", path)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exit.CodeFindings || len(lines) != 2 || !strings.HasPrefix(lines[0], "shop/ada/s1 event 4 (e4): covered_by: ") ||
		!strings.HasPrefix(lines[1], "    also event 4 (e4): I1: ") || complaints != "longsession: 1 finding\n" {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
	code, out, _ = called(t.Context(), "audit", "verify", path, "s1", "--json")
	var types []string
	for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		var one struct {
			Type, Rule, Event, Session string
			Seq, Findings              int
			Also                       []struct{ Rule, Session string }
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		if one.Type == "finding" && (one.Seq != 4 || one.Event != "e4" || one.Session != "s1" || len(one.Also) != 1 || one.Also[0].Rule != "I1" || one.Also[0].Session != "s1") ||
			one.Type == "checked" && one.Findings != 1 {
			t.Errorf("line %s", line)
		}
		types = append(types, one.Type+one.Rule)
	}
	if code != exit.CodeFindings || strings.Join(types, " ") != "findingcovered_by checked" {
		t.Errorf("exit code %d, lines %q", code, types)
	}
	// The glance at a session is no check: it tells, and ends with 0.
	code, out, _ = called(t.Context(), "audit", path, "s1")
	if code != exit.CodeOK || !strings.Contains(out, "1 finding, the first is shop/ada/s1 event 4 (e4): covered_by") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTheBoundOfSummariesIsTheAppsOwn(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2").Compact("r2", "e3", "e4"), "shop", "ada", "s1")
	for bound, want := range map[string]int{"1": exit.CodeFindings, "2": exit.CodeOK} {
		if code, out, _ := called(t.Context(), "audit", "verify", path, "--max-summaries", bound); code != want {
			t.Errorf("--max-summaries %s: exit code %d\n%s", bound, code, out)
		}
	}
}

// TestNothingReachesATerminalAsItIs checks recorded text in every name and text, and in
// messages of errors.
func TestNothingReachesATerminalAsItIs(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b[2Jy\u202ez\x07\u0085"
	h := (&ct.History{}).Branch("p."+evil).User(evil, evil+"\nsecond\r\n"+evil).Call(evil, evil, evil, evil).Response(evil, evil, evil, evil, evil).Agent(evil, evil, evil).
		Branch("").Turns(2, evil)
	for i := range 4 {
		h.Events[i].ID = evil + string(rune('a'+i))
	}
	h.Events[3].ModelVersion, h.Events[3].UsageMetadata = evil, &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 9}
	h.Events[0].ErrorMessage, h.Events[0].ErrorCode = evil, evil
	h.Events[3].Actions.StateDelta = map[string]any{evil: evil}
	h.Compact("r"+evil, h.Events[0].ID, h.Events[1].ID, h.Events[2].ID, h.Events[3].ID).Amend(func(m *record.Metadata) {
		m.Kind, m.Focus, m.Note, m.Model, m.Usage = record.KindCheckpoint, evil, evil, evil, record.Usage{PromptTokens: 9}
	})
	path := storeSession(t, h, "a"+evil, "u"+evil, "s"+evil, "UPDATE events SET covered_by = NULL WHERE seq = 1")
	broken := storeSession(t, h, "a"+evil, "u"+evil, "s"+evil, "UPDATE events SET content = '\"' || char(27) || '[2J\"' WHERE seq = 1")
	shown := 0
	for _, file := range []string{path, broken} {
		for _, args := range [][]string{{"list", file}, {file, "s" + evil}, {"history", file}, {"context", file}, {"context", file, "--at", "turn1"}, {"context", file, "--at", evil}, {"diff", file, "--from", "1"}, {"compactions", file}, {"diff", file, "--width", "120"}, {"diff", file}, {"verify", file}, {"result", file}, {"cuts", file, "--max-bytes", "200", "--stub-above", "20"}, {"result", file, "x" + evil}, {"result", file, "r-0000"}, {"costs", file}, {"activity", file}, {"costs", file, "s" + evil, "--model", evil},
			{"history", file, evil}, {"list", file, "--user", evil}, {"diff", file, "--record", evil}, {"export", file, "-o", filepath.Join(t.TempDir(), "out")}} {
			_, out, complaints := called(t.Context(), append([]string{"audit"}, args...)...)
			for _, r := range out + complaints {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%.40q writes %U\n%q", args, r, out+complaints)
					break
				}
			}
			shown += strings.Count(out, `x\x1b[2Jy\u202ez\a\u0085`)
		}
	}
	if shown < 30 {
		t.Errorf("what was said is shown %d times: this test looks in the wrong place", shown)
	}
}

func TestASessionThatCannotBeReadDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(2, "bot"), "shop", "ada", "s1", "UPDATE events SET content = '{'",
		"INSERT INTO sessions (app, user, id, created_at, updated_at) VALUES ('shop', 'ada', 's2', '2026-01-01T00:00:00.000000000Z', '2026-01-01T00:00:00.000000000Z')")
	code, out, complaints := called(t.Context(), "audit", "list", path)
	if code != exit.CodeFailed || !regexp.MustCompile(`(?m)^shop +ada +s1 +4 +\? +\? `).MatchString(out) || !regexp.MustCompile(`(?m)^shop +ada +s2 +0 +0 +0 `).MatchString(out) ||
		!strings.Contains(out, "shop/ada/s1 cannot be read: ") || !strings.Contains(complaints, "1 session cannot be read") {
		t.Errorf("exit code %d\n%s%s", code, out, complaints)
	}
	code, out, _ = called(t.Context(), "audit", "list", path, "--json")
	if code != exit.CodeFailed || strings.Count(out, "\n") != 2 || strings.Count(out, `"error":"`) != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// full is an output that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnOutputWithoutRoomIsAnError(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2"), "shop", "ada", "s1")
	for _, name := range []string{"list", "history", "context", "compactions", "diff", "verify", "export"} {
		for _, more := range [][]string{nil, {"--json"}} {
			var stderr bytes.Buffer
			code := Run(t.Context(), append([]string{"audit", name, path}, more...), strings.NewReader(""), full{}, &stderr)
			if code != exit.CodeFailed || strings.Count(stderr.String(), "no space left") != 1 {
				t.Errorf("%s %v: exit code %d: %s", name, more, code, &stderr)
			}
		}
	}
}

// TestAuditReadsWhileAnAppWrites: what it shows is what was appended until then.
func TestAuditReadsWhileAnAppWrites(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(2, "bot"), "shop", "ada", "s1")
	app, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	resp, err := app.Get(t.Context(), &session.GetRequest{AppName: "shop", UserID: "ada", SessionID: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	h := (&ct.History{}).Turns(5, "bot")
	for i, ev := range h.Events[4:] {
		if err := app.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
		code, out, complaints := called(t.Context(), "audit", "history", path)
		if n := strings.Count(out, "\n#") + 1; code != exit.CodeOK || n != 5+i {
			t.Errorf("exit code %d, %d events of %d: %s", code, n, 5+i, complaints)
		}
	}
	if code, out, _ := called(t.Context(), "audit", "verify", path); code != exit.CodeOK {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// An export says what it lacks of a file that an app of a later ADK has written.
func TestAnExportSaysWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(3, "bot"), "shop", "ada", "s1",
		`UPDATE events SET extra = '{"further":{"Hologram":{"a":1}}}' WHERE seq IN (1, 2)`,
		`UPDATE events SET content = '{"parts":[{"text":"q","hologram":1}],"role":"user"}' WHERE seq = 3`)
	const lines = "longsession: warning: not kept: 1 events with fields that this version of ADK does not know\n" +
		"longsession: warning: not kept: 2 values of the field Hologram that this version of ADK does not know\n"
	for _, args := range [][]string{{}, {"--format", "markdown"}, {"-o", filepath.Join(t.TempDir(), "s1.jsonl")}, {"--json", "-o", filepath.Join(t.TempDir(), "s1.json")}, {"--redact", "secret"}} {
		if code, out, errs := called(t.Context(), append([]string{"audit", "export", path}, args...)...); code != exit.CodeOK || !strings.HasSuffix(errs, lines) || strings.Contains(out, "not kept") {
			t.Errorf("%q: exit code %d, %s", args, code, errs)
		}
	}
	if _, _, errs := called(t.Context(), "audit", "export", storeSession(t, (&ct.History{}).Turns(3, "bot"), "shop", "ada", "s1")); strings.Contains(errs, "not kept") {
		t.Error(errs)
	}
}

// An export holds no state, so state that cannot be read costs nothing.
func TestAnExportNeedsNoState(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(3, "bot"), "shop", "ada", "s1",
		`INSERT INTO session_state (session, key, value) SELECT key, 'broken', '{' FROM sessions`)
	code, out, errs := called(t.Context(), "audit", "export", path)
	if code != exit.CodeOK || strings.Count(out, "\n") != 6 || strings.Contains(errs, "broken") {
		t.Errorf("exit code %d, %d lines\n%s", code, strings.Count(out, "\n"), errs)
	}
}
