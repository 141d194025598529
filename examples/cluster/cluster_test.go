package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// The processes of the app are this test binary, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// programs returns the programs of PostgreSQL. Without them the test is skipped, or fails on CI.
func programs(t *testing.T) []string {
	t.Helper()
	found, err := findPrograms("initdb", "postgres")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("no test may be skipped with CI=true: %v", err)
	}
	if err != nil {
		t.Skip(err)
	}
	return found
}

func TestAnyProcessAnswersAndOneOfThemSummarizes(t *testing.T) {
	t.Parallel()
	programs(t)
	const turns = 20
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-turns", fmt.Sprint(turns)}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q, stdout:\n%s", code, stderr.String(), stdout.String())
	}
	out := stdout.String()
	for _, c := range customers {
		line := regexp.MustCompile(`(?m)^  ` + c.name + ` +([abcABC]+)$`).FindStringSubmatch(out)
		if line == nil || len(line[1]) != turns {
			t.Errorf("the turns of %s are not there:\n%s", c.name, out)
		}
	}
	answered, wrote := 0, 0
	for _, name := range names {
		line := regexp.MustCompile(`(?m)^  ` + name + ` +answered (\d+) turns and wrote (\d+) summaries$`).FindStringSubmatch(out)
		if line == nil || line[1] == "0" {
			t.Fatalf("%s answered nothing:\n%s", name, out)
		}
		answered, wrote = answered+number(t, line[1]), wrote+number(t, line[2])
	}
	stored := 0
	for _, line := range regexp.MustCompile(`(\d+) events and (\d+) summaries are stored; a turn loads (\d+) of them`).FindAllStringSubmatch(out, -1) {
		stored += number(t, line[2])
		if events, loaded := number(t, line[1]), number(t, line[3]); events != 2*turns || loaded >= events {
			t.Errorf("a turn loads %d of %d events:\n%s", loaded, events, out)
		}
	}
	if answered != len(customers)*turns || wrote != stored {
		t.Errorf("%d turns answered, %d summaries written, %d stored:\n%s", answered, wrote, stored, out)
	}
	if want := fmt.Sprintf("cluster ok: %d turns answered", len(customers)*turns); !strings.Contains(out, want) {
		t.Errorf("%q is missing:\n%s", want, out)
	}
}

// The example notices what it is there to show.
func TestTheCheckFindsWhatIsLost(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "it's a") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	server, err := startServer(t.Context(), programs(t), folder+"/data", folder)
	if err != nil {
		t.Fatal(err)
	}
	defer server.stop()
	c := &client{dsn: server.dsn(), turns: fewest, out: io.Discard}
	defer c.stop()
	if err := c.play(t.Context()); err != nil {
		t.Fatal(err)
	}
	inner, db, err := openSessions(c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	shared, err := adkdb.New(inner, db)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.check(t.Context(), shared, db); err != nil {
		t.Errorf("at first: %v", err)
	}
	for _, harm := range []struct{ statement, want string }{
		{"DELETE FROM events WHERE session_id = 'ida' AND author = 'clerk'", "ida: 16 events are stored, want 32"},
		{"INSERT INTO events (id, app_name, user_id, session_id, author, custom_metadata, timestamp) " +
			"SELECT 'again', app_name, user_id, session_id, author, custom_metadata, timestamp FROM events " +
			"WHERE session_id = 'theo' AND custom_metadata IS NOT NULL ORDER BY timestamp LIMIT 1", "events or summaries were summarized twice"},
		{"DELETE FROM events WHERE session_id = 'mara' AND custom_metadata IS NOT NULL", "mara: no summary was written"},
	} {
		if _, err := db.ExecContext(t.Context(), harm.statement); err != nil {
			t.Fatal(err)
		}
		if err := c.check(t.Context(), shared, db); err == nil || !strings.Contains(err.Error(), harm.want) {
			t.Errorf("after %s: %v, want %q", harm.statement, err, harm.want)
		}
	}
}

func TestAnswersHaveWhatThePromptHas(t *testing.T) {
	t.Parallel()
	said := func(c customer, turns ...int) (all []string) {
		for _, n := range turns {
			all = append(all, c.says(n, fewest))
		}
		return all
	}
	ask := func(known []string) string {
		var prompt []*genai.Content
		for _, text := range append(known, lastQuestion) {
			prompt = append(prompt, genai.NewContentFromText(text, genai.RoleUser))
		}
		return answer(prompt)
	}
	mara, jonas := customers[0], customers[1]
	for _, tt := range []struct {
		known []string
		want  string
	}{
		{said(mara, 0, 1, 2, 2), mara.right(4)},
		{said(mara, 1, 2), "I am afraid that I no longer know."},
		{append(said(mara, 0, 1), said(jonas, 0, 2)...), "Your order number is R-20417 or R-31188, and 2 boxes are on your list."},
	} {
		if got := ask(tt.known); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.known, got, tt.want)
		}
	}
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-turns", "3"}, 2, "-turns is 3"},
		{[]string{"-turns", "101"}, 2, "-turns is 101"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-help"}, 0, "-turns"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%v: exit code %d, stderr %q; want %d and %q", tt.args, code, stderr.String(), tt.code, tt.want)
		}
	}
}

func TestWithoutPostgreSQLItSaysSo(t *testing.T) {
	t.Parallel()
	_, missing := findPrograms("no-such-program-of-postgresql")
	if missing == nil || !strings.Contains(missing.Error(), "apt-get install postgresql") {
		t.Fatalf("%v does not say what to install", missing)
	}
	var stdout, stderr bytes.Buffer
	if code := skip(missing, false, &stdout, &stderr); code != 0 || stderr.Len() > 0 || !strings.Contains(stdout.String(), missing.Error()) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	stdout.Reset()
	if code := skip(errors.New("gone"), true, &stdout, &stderr); code != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "gone") {
		t.Errorf("on CI: exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnInterruptEndsIt(t *testing.T) {
	t.Parallel()
	programs(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, nil, &stdout, &stderr); code != 1 || stderr.String() != "cluster: interrupted\n" {
		t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, stderr.String(), stdout.String())
	}
}
