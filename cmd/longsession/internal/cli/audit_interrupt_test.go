package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

func TestAnInterruptedCommandSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	path := storeSession(t, (&ct.History{}).Turns(2, "bot"), "shop", "ada", "s1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out.jsonl")
	for _, args := range [][]string{{path}, {path, "s1"}, {"list", path}, {"history", path}, {"context", path}, {"compactions", path}, {"diff", path}, {"verify", path}, {"export", path}} {
		want := "longsession: interrupted: nothing was shown\n"
		if code, shown, complaints := called(ctx, append([]string{"audit"}, args...)...); code != exit.CodeInterrupted || complaints != want || shown != "" {
			t.Errorf("%s: exit code %d: %q\n%s", args[0], code, complaints, shown)
		}
	}
	if code, _, complaints := called(ctx, "audit", "export", path, "s1", "-o", out); code != exit.CodeInterrupted || !strings.Contains(complaints, "interrupted") {
		t.Errorf("exit code %d: %q", code, complaints)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("an interrupted export left %v, %v", left, err)
	}
}

// TestAnInterruptMidwayTellsHowFarItCame: the output ends the run when it takes the first bytes.
func TestAnInterruptMidwayTellsHowFarItCame(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", strings.Repeat("long ", 4000)).Agent("i", "bot", strings.Repeat("long ", 4000)).Turns(600, "bot")
	path := storeSession(t, h, "shop", "ada", "s0", `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
		INSERT INTO sessions (app, user, id, created_at, updated_at) SELECT 'shop', 'ada', 's' || i, '2026-01-01T00:00:00.000000000Z', '2026-01-01T00:00:00.000000000Z' FROM n`)
	for _, c := range []struct {
		args []string
		want string
		all  int
	}{
		{[]string{"history", path, "s0"}, `^longsession: interrupted: ([\d,]+) events shown\n$`, 1202},
		{[]string{"export", path, "s0"}, `^longsession: warning: [^\n]+\nlongsession: interrupted: ([\d,]+) events written, which may not be all\n$`, 1202},
		{[]string{"list", path, "--json"}, `^longsession: interrupted: ([\d,]+) of 201 sessions read\n$`, 201},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		stdout := &written{seen: func(string) { interrupt() }}
		var stderr bytes.Buffer
		code := Run(ctx, append([]string{"audit"}, c.args...), strings.NewReader(""), stdout, &stderr)
		told := regexp.MustCompile(c.want).FindStringSubmatch(stderr.String())
		if code != exit.CodeInterrupted || told == nil {
			t.Errorf("%s: exit code %d: %q", c.args[0], code, &stderr)
			continue
		}
		if n, err := strconv.Atoi(strings.ReplaceAll(told[1], ",", "")); err != nil || n < 1 || n >= c.all {
			t.Errorf("%s: %s of %d", c.args[0], told[1], c.all)
		}
	}
}
