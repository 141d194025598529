package chat_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
)

// typeInto runs the lines as a pipe, and returns what was printed.
func typeInto(t *testing.T, cfg chat.Config, lines ...string) (out string, err error) {
	t.Helper()
	var o bytes.Buffer
	cfg.In, cfg.Out = strings.NewReader(strings.Join(lines, "\n")+"\n"), &o
	err = run(t, cfg)
	return o.String(), err
}

// In a chat without a stack, each command works or says what it needs.
func TestCommandsWithoutAStack(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	cfg.Stack, cfg.Sessions, cfg.Compactions = nil, session.InMemoryService(), nil
	for _, line := range []string{"/compact", "/done", "/context", "/tokens", "/stats", "/compaction-status", "/guard", "/guard reset", "/resume-after-cost-ceiling", "/recall x", "/result x"} {
		if _, err := typeInto(t, cfg, line); err == nil || !strings.Contains(err.Error(), "no context management") {
			t.Errorf("%s: error %v", line, err)
		}
	}
	shown, err := typeInto(t, cfg, "Hello.", "/history", "/sessions", "/tools", "/help", "/quit")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  user: Hello.\n", "  bot: You said: Hello.\n", "  talk\n", "The agent has no tools.\n", "  /compact [focus]"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in:\n%s", want, shown)
		}
	}
}

// With the guard turned off, its commands say so.
func TestCommandsWithoutAGuard(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model: echo(), Compaction: compaction.Config{Synchronous: true, InvocationThreshold: 5}, Disable: []longsession.Layer{longsession.LayerGuard},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Close(context.Background()) })
	cfg.Stack = stack
	for _, line := range []string{"/guard", "/resume-after-cost-ceiling +1"} {
		if _, err := typeInto(t, cfg, line); err == nil || !strings.Contains(err.Error(), "the guard is turned off") {
			t.Errorf("%s: error %v", line, err)
		}
	}
	if shown, err := typeInto(t, cfg, "/stats"); err != nil || !strings.Contains(shown, "not counted: the guard is turned off") {
		t.Errorf("/stats: %q, %v", shown, err)
	}
}

// A session may be older than the guard: what was not counted is not free.
func TestCallsThatWereNotCountedAreSaid(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	sessions := cfg.Stack.Sessions
	created, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	const unknown = "from before its calls were counted"
	if shown, err := typeInto(t, cfg, "/stats"); err != nil || strings.Contains(shown, unknown) {
		t.Errorf("/stats of an empty session: %q, %v", shown, err)
	}
	for i, ev := range (&compactiontest.History{}).Turns(1, "bot").Events {
		if err := sessions.AppendEvent(t.Context(), created.Session, ev); err != nil {
			t.Fatal(err)
		}
		answered := i > 0
		if shown, err := typeInto(t, cfg, "/stats"); err != nil || answered != strings.Contains(shown, "The session has answers "+unknown+"; what they cost is not known.\n") {
			t.Errorf("/stats, answered %t: %q, %v", answered, shown, err)
		}
	}
}

// NoCheckpoint takes out what belongs to checkpoints, and nothing else.
func TestNoCheckpointTakesItAllAway(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model: echo(), Compaction: compaction.Config{Synchronous: true, InvocationThreshold: 5}, ContextTools: contexttool.Config{Enabled: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Close(context.Background()) })
	cfg.Stack, cfg.Tools = stack, nil
	with, err := typeInto(t, cfg, "/help", "/tools")
	if err != nil {
		t.Fatal(err)
	}
	cfg.NoCheckpoint = true
	without, err := typeInto(t, cfg, "/help", "/tools")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(with) {
		if !strings.Contains(line, "checkpoint") && !strings.Contains(line, "mark_task_done") {
			kept = append(kept, line)
		}
	}
	if n := strings.Count(with, "\n") - len(kept); n != 2 {
		t.Errorf("%d lines are about checkpoints, want /done and mark_task_done:\n%s", n, with)
	}
	if got, want := without, strings.Join(kept, ""); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, line := range []string{"/done", "/checkpoint x", "/help done"} {
		if _, err := typeInto(t, cfg, line); err == nil || !strings.Contains(err.Error(), "no command is named") {
			t.Errorf("%s: error %v", line, err)
		}
	}
}

// A path is a message, and so is a command behind a blank. What looks like a command is never sent.
func TestWhatIsACommandAndWhatIsAMessage(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	shown, err := typeInto(t, config(t, "", &out, &errs), "/usr/bin/env is missing", " /help")
	if err != nil || !strings.Contains(shown, "You said: /usr/bin/env is missing\n") || !strings.Contains(shown, "You said:  /help\n") {
		t.Errorf("%q, %v", shown, err)
	}
	if shown, err = typeInto(t, config(t, "", &out, &errs), "/tmp"); err == nil || shown != "" {
		t.Errorf("an unknown command was sent: %q, %v", shown, err)
	}
}

// /help with a name explains that command alone.
func TestHelpOfOneCommand(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	for _, line := range []string{"/help compact", "/help /SUMMARIZE"} {
		shown, err := typeInto(t, config(t, "", &out, &errs), line)
		if want := "  /compact [focus]                  summarizes old turns now; the focus is kept in detail (also /summarize)\n"; err != nil || shown != want {
			t.Errorf("%s: %q, %v", line, shown, err)
		}
	}
	if _, err := typeInto(t, config(t, "", &out, &errs), "/help compcat"); err == nil || !strings.Contains(err.Error(), "did you mean /compact?") {
		t.Errorf("error %v", err)
	}
}

// The sessions of subtasks are folded under their parents, and cannot be resumed.
func TestSubtasksAreFoldedUnderTheirParents(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	for _, id := range []string{"other", "other:sub:a", "other:sub:b"} {
		if _, err := cfg.Stack.Sessions.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: id}); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := typeInto(t, cfg, "/sessions")
	if err != nil || !strings.Contains(shown, "  other  (2 subtasks)\n") || strings.Contains(shown, ":sub:") || strings.Count(shown, "\n") != 2 {
		t.Errorf("%q, %v", shown, err)
	}
	if _, err := typeInto(t, cfg, "/resume other:sub:a"); err == nil || !strings.Contains(err.Error(), "there is no session") {
		t.Errorf("error %v", err)
	}
	shown, err = typeInto(t, cfg, "/resume oth", "/sessions", "In here.", "/history")
	if err != nil || !strings.Contains(shown, "* ") || !strings.Contains(shown, "  user: In here.\n") {
		t.Errorf("%q, %v", shown, err)
	}
	var marked string
	for line := range strings.Lines(shown) {
		if strings.HasPrefix(line, "* ") {
			marked = line
		}
	}
	if !strings.HasSuffix(marked, "  other  (2 subtasks)\n") {
		t.Errorf("the session that is talked in is marked as %q", marked)
	}
}

// /history shows the newest messages, also of a turn that a summary has replaced, and no summary.
func TestHistoryShowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	if shown, err := typeInto(t, cfg, "/history"); err != nil || shown != "Nothing has been said yet.\n" {
		t.Errorf("%q, %v", shown, err)
	}
	var lines []string
	for range 8 {
		lines = append(lines, "Message. "+strings.Repeat("And so on. ", 40))
	}
	if _, err := typeInto(t, cfg, lines...); err != nil {
		t.Fatal(err)
	}
	for n, line := range map[int]string{3: "/history 3", 10: "/history", 16: "/history 9999"} {
		shown, err := typeInto(t, cfg, line)
		if got := strings.Count(shown, "\n"); err != nil || got != n {
			t.Errorf("%s: %d lines, want %d: %v\n%s", line, got, n, err, shown)
		}
	}
	for _, line := range []string{"/history 0", "/history -1", "/history ten"} {
		if _, err := typeInto(t, cfg, line); err == nil || !strings.Contains(err.Error(), "/history 20") {
			t.Errorf("%s: error %v", line, err)
		}
	}
}

// A compaction by hand is told once: what it did on standard output, and on standard error what it cost and when the
// next is due.
func TestACompactionByHandIsToldOnce(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	var lines []string
	for range 4 {
		lines = append(lines, "Message. "+strings.Repeat("And so on. ", 40))
	}
	shown, err := typeInto(t, cfg, append(lines, "/compact")...)
	if err != nil || strings.Count(shown, "Context compacted: ") != 1 {
		t.Errorf("%q, %v", shown, err)
	}
	if want := "It took 12 tokens; the model has no known price. The next is due at "; strings.Count(errs.String(), want) != 1 || strings.Contains(errs.String(), "Summarized") {
		t.Errorf("%q is not there once, or the compaction is told twice:\n%s", want, errs.String())
	}
}

// A bare reset of a session that is not stopped changes nothing, and says so. /guard takes no other word.
func TestResetOfASessionThatIsNotStopped(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	cfg := config(t, "", &out, &errs)
	for line, want := range map[string]string{
		"/resume-after-cost-ceiling": "The session is not stopped. An amount, such as +2.50, raises its ceiling.\n",
		"/guard reset":               "The session is not stopped. An amount, such as +2.50, raises its ceiling.\n",
		"/guard reset +1.25":         "The session goes on: added $1.2500.\n",
	} {
		if shown, err := typeInto(t, cfg, line); err != nil || shown != want {
			t.Errorf("%s: %q, %v, want %q", line, shown, err, want)
		}
	}
	if _, err := typeInto(t, cfg, "/guard rest"); err == nil || !strings.Contains(err.Error(), "/guard reset +2.50") {
		t.Errorf("error %v", err)
	}
}
