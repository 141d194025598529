//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience ends a test that waits in vain. No test takes as long if all is well.
const patience = 60 * time.Second

// window is a chat in a terminal that a test types into.
type window struct {
	t      *testing.T
	socket string // of tmux
	folder string
	file   string // of the sessions
	// windows is how many windows there were, this one included.
	windows int
}

// newWindow returns a window, which is empty until a chat is started in it.
func newWindow(t *testing.T) *window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is missing: apt-get install tmux")
		}
		t.Skip("tmux is missing, which types into the terminal")
	}
	folder, err := os.MkdirTemp("", "chat") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	w := &window{t: t, folder: folder, file: filepath.Join(folder, "chat.db")}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	w.another()
	return w
}

// another has the next chat start in a window of its own, with an empty screen. The one before ends with the test: its
// server would outlive it, with the chat in it.
func (w *window) another() {
	w.windows++
	socket := filepath.Join(w.folder, fmt.Sprintf("tmux%d", w.windows))
	w.t.Cleanup(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
	w.socket = socket
}

// tmux runs a command of tmux and returns its output.
func (w *window) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", w.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// chat starts a chat in the window, with variables such as "TERM=dumb" in front of its flags.
func (w *window) chat(columns, rows int, args ...string) {
	w.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	line := []string{"exec", "env", "-u", "NO_COLOR", asCommand + "=1", "HOME=" + w.folder, "XDG_DATA_HOME=", "XDG_CONFIG_HOME="}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		line, args = append(line, args[0]), args[1:]
	}
	line = append(append(line, exe, "chat", "--file", w.file, "--session", "s", "--no-web", "--trust", "no"), args...)
	for i, word := range line {
		line[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	script := "trap : INT; cd " + w.folder + "; (" + strings.Join(line[1:], " ") + "); echo \"exit $?\"; sleep 1000"
	w.tmux("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "sh", "-c", script)
}

// keys presses keys by tmux's names, such as Enter and C-c.
func (w *window) keys(names ...string) {
	w.t.Helper()
	w.tmux(append([]string{"send-keys"}, names...)...)
}

// types types a text.
func (w *window) types(text string) {
	w.t.Helper()
	w.tmux("send-keys", "-l", "--", text)
}

// paste pastes a text as a terminal does.
func (w *window) paste(text string) {
	w.t.Helper()
	name := filepath.Join(w.folder, "paste")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.tmux("load-buffer", name)
	w.tmux("paste-buffer", "-p")
}

// screen is what the window shows, without blanks at the ends of lines. It has what has scrolled away, too.
func (w *window) screen() string {
	w.t.Helper()
	var lines []string
	for line := range strings.Lines(w.tmux("capture-pane", "-p", "-S", "-", "-J")) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// until waits for a screen.
func (w *window) until(what string, is func(screen string) bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		screen := w.screen()
		if is(screen) {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("waited for %s in vain; the screen:\n%s", what, screen)
		}
	}
}

// see waits until a text is on the screen so many times.
func (w *window) see(text string, times int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%q, %d times", text, times), func(screen string) bool { return strings.Count(screen, text) >= times })
}

// prompted waits for an empty prompt at the end of the screen.
func (w *window) prompted() {
	w.t.Helper()
	w.until("a prompt", func(screen string) bool { return strings.HasSuffix("\n"+screen, "\n>") })
}

// said returns the messages of the person that are stored.
func (w *window) said() (messages []string) {
	w.t.Helper()
	out, err := command(w.t, "audit", "history", w.file, "s", "--json", "--limit", "0")
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(out) {
		var ev struct {
			Author string `json:"author"`
			Text   string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		if ev.Author == "user" && ev.Text != "" {
			messages = append(messages, ev.Text)
		}
	}
	return messages
}

// command runs the command without a terminal.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "HOME="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	return out.String(), err
}

// server answers as OpenAI's servers do. The handler gets the newest text of the person, and writes parts.
func server(t *testing.T, answer func(text string, tools int, say func(part string), r *http.Request)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Messages []struct {
				Role    string `json:"role"`
				Content any    `json:"content"`
			} `json:"messages"`
			Tools []any `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		text := ""
		for _, m := range req.Messages {
			if s, ok := m.Content.(string); ok && m.Role == "user" {
				text = s
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(part string) {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", part)
			w.(http.Flusher).Flush()
		}
		answer(text, len(req.Tools), say, r)
		say(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":5}}`)
		say("[DONE]")
	}))
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// content is a part of a stream with this text.
func content(text string) string {
	b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": text}}}}) // texts have no errors
	return string(b)
}

// local are the flags for a model of such a server.
func local(base string) []string {
	return []string{"--base-url", base, "--model", "local", "--context-window", "32000"}
}

// A paste is one message, with each of its tabs, however long it is.
func TestAPasteInATerminalIsOneMessage(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{1, 100, 2000} {
		t.Run(strconv.Itoa(lines), func(t *testing.T) {
			t.Parallel()
			w := newWindow(t)
			w.chat(80, 24)
			w.prompted()
			text := ""
			for i := range lines {
				text += fmt.Sprintf("line\t%d\tof a table, 你好\n", i)
			}
			w.paste(text)
			w.see("[pasted ", 1)
			w.keys("Enter")
			w.see("📊", 1)
			w.prompted()
			if said := w.said(); len(said) != 1 || strings.TrimSuffix(said[0], "\n") != strings.TrimSuffix(text, "\n") {
				t.Errorf("%d messages, the first of %d bytes: %.80q", len(said), len(strings.Join(said, "")), said)
			}
		})
	}
}

// Wide characters are edited where the cursor is, and a window that changes its size loses nothing.
func TestWideCharactersAreEditedInANarrowWindow(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 40, 20} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			w := newWindow(t)
			w.chat(60, 20)
			w.prompted()
			w.types("你好 hello 👋 and 日本")
			w.see("日本", 1)
			w.tmux("resize-window", "-x", strconv.Itoa(columns), "-y", "20")
			w.keys("Left", "Left")
			w.types("XY")
			w.until("the text that was inserted", func(screen string) bool { return strings.Contains(strings.ReplaceAll(screen, "\n", ""), "XY日本") })
			w.keys("Enter")
			w.see("📊", 1)
			w.prompted()
			if said := w.said(); len(said) != 1 || said[0] != "你好 hello 👋 and XY日本" {
				t.Errorf("said %q", said)
			}
		})
	}
}

// Ctrl-C and Ctrl-D end what the person means, and nothing that was said is lost.
func TestCtrlCInEachState(t *testing.T) {
	t.Parallel()
	t.Run("typing", func(t *testing.T) {
		t.Parallel()
		w := newWindow(t)
		w.chat(80, 24)
		w.prompted()
		w.types("never sent")
		w.see("never sent", 1)
		w.keys("C-c")
		w.until("an empty line", func(screen string) bool { return !strings.Contains(screen, "never sent") })
		w.types("sent")
		w.keys("Enter")
		w.see("📊", 1)
		w.prompted()
		if said := w.said(); len(said) != 1 || said[0] != "sent" {
			t.Errorf("said %q", said)
		}
		w.keys("C-d")
		w.see("exit 0", 1)
	})
	t.Run("streaming", func(t *testing.T) {
		t.Parallel()
		w := newWindow(t)
		w.chat(80, 24, local(server(t, func(text string, _ int, say func(string), r *http.Request) {
			say(content("Go on: " + text))
			if text == "wait" {
				<-r.Context().Done()
			}
		}))...)
		w.prompted()
		w.types("wait")
		w.keys("Enter")
		w.see("Go on: wait", 1)
		w.keys("C-c")
		w.see("Interrupted", 1)
		w.prompted()
		w.types("more")
		w.keys("Enter")
		w.see("Go on: more", 1)
		w.prompted()
		if said := w.said(); len(said) != 2 || said[0] != "wait" || said[1] != "more" {
			t.Errorf("said %q", said)
		}
	})
	t.Run("in a tool that compacts, and compacting", func(t *testing.T) {
		t.Parallel()
		w := newWindow(t)
		asked := make(chan struct{}, 8)
		w.chat(80, 24, append(local(server(t, func(text string, tools int, say func(string), r *http.Request) {
			switch {
			case tools == 0: // a summary
				asked <- struct{}{}
				<-r.Context().Done()
			case text == "use the tool":
				say(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"compact_context","arguments":"{}"}}]}}]}`)
			default:
				say(content(strings.Repeat("So it is. ", 60)))
			}
		})), "--compact-context", "--invocation-threshold", "0")...)
		w.prompted()
		for i := range 6 {
			w.types(fmt.Sprintf("message %d", i))
			w.keys("Enter")
			w.see("📊", i+1)
			w.prompted()
		}
		for i, line := range []string{"/compact", "use the tool"} {
			w.types(line)
			w.keys("Enter")
			select {
			case <-asked:
			case <-time.After(patience):
				t.Fatalf("%s: no summary was asked for; the screen:\n%s", line, w.screen())
			}
			w.keys("C-c")
			w.see("Interrupted", i+1)
			w.prompted()
		}
		if said := w.said(); len(said) != 7 {
			t.Errorf("said %q", said)
		}
	})
	t.Run("while a summary hangs", func(t *testing.T) {
		t.Parallel()
		w := newWindow(t)
		asked := make(chan struct{}, 8)
		w.chat(80, 24, append(local(server(t, func(_ string, tools int, say func(string), r *http.Request) {
			if tools == 0 {
				asked <- struct{}{}
				<-r.Context().Done()
				return
			}
			say(content(strings.Repeat("So it is. ", 60)))
		})), "--invocation-threshold", "3")...)
		w.prompted()
		for i := range 3 {
			w.types(fmt.Sprintf("message %d", i))
			w.keys("Enter")
			w.see("📊", i+1)
			w.prompted()
		}
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatalf("no summary was asked for; the screen:\n%s", w.screen())
		}
		w.keys("C-d")
		w.until("that it waits", func(screen string) bool { return !strings.HasSuffix(screen, "\n>") })
		w.keys("C-c")
		w.until("the end", func(screen string) bool {
			return strings.Contains(screen, "exit 0") || strings.Contains(screen, "exit 130")
		})
	})
	t.Run("at a confirmation", func(t *testing.T) {
		t.Parallel()
		w := newWindow(t)
		calls := 0
		w.chat(80, 24, append(local(server(t, func(_ string, _ int, say func(string), _ *http.Request) {
			if calls++; calls == 1 {
				say(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}}]}}]}`)
				return
			}
			say(content("Then not."))
		})), "--ask", "always", "--agentic-tools=false")...)
		w.prompted()
		w.types("list the folder")
		w.keys("Enter")
		w.see("[y/N]", 1)
		w.keys("C-c")
		w.prompted()
		w.types("/quit")
		w.keys("Enter")
		w.see("exit 0", 1)
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		w := newWindow(t)
		w.chat(80, 24, local(server(t, func(text string, _ int, say func(string), r *http.Request) {
			say(content("Go on"))
			<-r.Context().Done()
		}))...)
		w.prompted()
		w.types("wait")
		w.keys("Enter")
		w.see("Go on", 1)
		w.keys("C-c", "C-c")
		w.until("the end, or a prompt", func(screen string) bool {
			return strings.Contains(screen, "exit 130") || strings.Contains(screen, "exit 0") || strings.HasSuffix(screen, "\n>")
		})
		if said := w.said(); len(said) != 1 {
			t.Errorf("said %q", said)
		}
	})
}

// A process that is killed in the middle of an answer has stored all that was said, and the next one goes on.
func TestAKilledChatGoesOn(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	args := append(local(server(t, func(text string, _ int, say func(string), r *http.Request) {
		say(content("Yes: " + text))
		if text == "two" {
			<-r.Context().Done()
		}
	})), "--resume=false")
	w.chat(80, 24, args...)
	w.prompted()
	w.types("one")
	w.keys("Enter")
	w.see("📊", 1)
	w.prompted()
	w.types("two")
	w.keys("Enter")
	w.see("Yes: two", 1)
	pids, err := exec.Command("pgrep", "-f", w.file).Output()
	if err != nil {
		t.Skip("pgrep is missing, which finds the process to kill")
	}
	for _, field := range strings.Fields(string(pids)) {
		pid, _ := strconv.Atoi(field)
		if name, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); strings.HasSuffix(name, ".test") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	w.see("exit 137", 1)
	w.tmux("kill-server")
	w.another() // the server of the first may still be about to end
	w.chat(80, 24, args...)
	w.prompted()
	w.see("two", 1)
	w.types("three")
	w.keys("Enter")
	w.see("Yes: three", 1)
	w.prompted()
	if said := w.said(); strings.Join(said, "|") != "one|two|three" {
		t.Errorf("said %q", said)
	}
}

// Terminals that can do little get lines, and nobody gets colors who does not want them.
func TestPlainTerminals(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"TERM=dumb", "NO_COLOR=1"} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			w := newWindow(t)
			w.chat(80, 24, variable)
			w.prompted()
			w.types("/nothing-like-it")
			w.keys("Enter")
			w.see("/help lists them", 1)
			w.prompted() // what is typed earlier meets a terminal that makes a new line of Enter
			w.types("hello")
			w.keys("Enter")
			w.see("📊", 1)
			if colored := w.tmux("capture-pane", "-p", "-e"); strings.Contains(colored, "\x1b[3") {
				t.Errorf("colors: %q", colored)
			}
			w.keys("C-d")
			w.see("exit 0", 1)
		})
	}
}

// A pipe is a list of messages, and only answers come out.
func TestAPipeIsAListOfMessages(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), exe, "chat", "--file", filepath.Join(folder, "chat.db"), "--session", "s", "--no-tools")
	cmd.Dir, cmd.Env, cmd.Stdin = folder, append(os.Environ(), asCommand+"=1", "HOME="+folder), strings.NewReader("hello\n\nand \xff bytes\n/quit\nnever\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) || err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "📊") {
		t.Errorf("out %q", out.String())
	}
	_, _ = io.Copy(io.Discard, &errs)
}

// A project is trusted once, at a terminal of any width, and then its AGENTS.md is in every turn.
func TestTrustIsAskedOnceInAnyWindow(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 60, 20} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			w := newWindow(t)
			if err := os.WriteFile(filepath.Join(w.folder, "AGENTS.md"), []byte("Sign every answer with PELICAN.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			base := toldServer(t, "PELICAN")
			start := func() { w.chat(columns, 30, append(local(base), "--trust", "ask")...) }
			joined := func(text string) func(string) bool { // a narrow window breaks lines anywhere
				return func(screen string) bool { return strings.Contains(bare(screen), bare(text)) }
			}
			start()
			w.until("the question", joined("Follow them in this folder from now on? [y/N]"))
			w.types("y")
			w.keys("Enter")
			w.prompted()
			w.types("hello")
			w.keys("Enter")
			w.see("I was told.", 1)
			w.see("📊", 1)
			w.prompted()
			w.keys("C-d")
			w.see("exit 0", 1)

			w.another()
			start()
			w.prompted()
			w.types("again")
			w.keys("Enter")
			w.see("I was told.", 2) // the first is the last exchange of the session
			w.see("📊", 1)
			if screen := w.screen(); joined("Follow them")(screen) {
				t.Errorf("asked once more:\n%s", screen)
			}
			if said := w.said(); strings.Join(said, "|") != "hello|again" {
				t.Errorf("said %q", said)
			}
		})
	}
}

// Commands and mistakes can be read in a window of 20 columns.
func TestCommandsInANarrowWindow(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	w.chat(20, 40)
	w.prompted()
	for _, c := range []struct{ typed, shown string }{
		{"hello", "I am a scripted model"},
		{"/tokens", "% used)"},
		{"/context", "Subtasks: 0"},
		{"/guard", "no limit is set"},
		{"/history", "user: hello"},
		{"/help", "leaves the chat"},
		{"/tokns", "did you mean /tokens?"},
	} {
		w.types(c.typed)
		w.keys("Enter")
		w.until(fmt.Sprintf("%q", c.shown), func(screen string) bool { return strings.Contains(bare(screen), bare(c.shown)) })
		w.prompted()
	}
	w.keys("C-d")
	w.see("exit 0", 1)
	if said := w.said(); len(said) != 1 || said[0] != "hello" {
		t.Errorf("said %q", said)
	}
}

// bare is a text without blanks and ends of lines.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }

// toldServer is a server whose model says whether a word is in its instructions.
func toldServer(t *testing.T, word string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := "Nobody told me."
		if strings.Contains(string(body), word) {
			answer = "I was told."
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", content(answer))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// While the model thinks, something moves; it leaves nothing behind.
func TestASpinnerTurnsWhileNothingComes(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	answers := make(chan struct{})
	w.chat(60, 24, local(server(t, func(_ string, _ int, say func(string), r *http.Request) {
		select {
		case <-answers:
		case <-r.Context().Done():
		}
		say(content("Here it is."))
	}))...)
	w.prompted()
	w.types("hello")
	w.keys("Enter")
	w.until("a spinner", func(screen string) bool {
		return strings.Contains(screen, "thinking") && strings.ContainsAny(screen, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	})
	close(answers)
	w.see("📊", 1)
	w.prompted()
	if screen := w.screen(); strings.Contains(screen, "thinking") || strings.ContainsAny(screen, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") || !strings.Contains(screen, "\nHere it is.\n") {
		t.Errorf("left behind:\n%s", screen)
	}
}
