//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"google.golang.org/genai"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/replaycmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// escapes are what a terminal acts on: colors, and the commands of a progress bar.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// onTerminal runs the command on a terminal of so many columns and returns what it wrote there,
// without colors, and its exit code.
func onTerminal(t *testing.T, columns int, args ...string) (text string, code int) {
	t.Helper()
	return onTerminalWith(t, replay.Compare, columns, args...)
}

// onTerminalWith does so with compare in the place of the real one.
func onTerminalWith(t *testing.T, compare replaycmd.Compare, columns int, args ...string) (text string, code int) {
	t.Helper()
	terminal, screen, err := pty.Open()
	if err != nil {
		t.Skip("no terminal here:", err)
	}
	defer terminal.Close()
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 40, Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int)
	go func() {
		defer close(ended)
		code := execute(t.Context(), rootCommand(compare), args, strings.NewReader(""), screen, screen)
		_ = screen.Close() // so that reading ends
		ended <- code
	}()
	text = escapes.ReplaceAllString(readAll(t, terminal), "")
	return text, <-ended
}

// remembered plays each conversation once, however often it is asked to. Its policies must not
// change.
func remembered() replaycmd.Compare {
	var mu sync.Mutex
	played := map[string][]*replay.Report{}
	return func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		mu.Lock()
		defer mu.Unlock()
		if reports := played[c.ID]; reports != nil {
			return reports, nil
		}
		reports, err := replay.Compare(ctx, c, policies, opts)
		played[c.ID] = reports
		return reports, err
	}
}

// asProcess does the same in a process of its own, in an environment, and leaves the colors. The
// test binary is the command: see TestMain.
func asProcess(t *testing.T, columns int, env []string, args ...string) (text string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "longsession", args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	cmd.Env = append(cmd.Env, env...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: uint16(columns)})
	if err != nil {
		t.Skip("no terminal here:", err)
	}
	defer terminal.Close()
	text = readAll(t, terminal)
	var ended *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return text, cmd.ProcessState.ExitCode()
}

// readAll reads a terminal until nobody writes to it any more.
func readAll(t *testing.T, terminal io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := io.Copy(&out, terminal); err != nil && !errors.Is(err, syscall.EIO) { // that is how it ends on Linux
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

// fits fails the test where a line is wider than the terminal.
func fits(t *testing.T, text string, columns int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for part := range strings.SplitSeq(line, "\r") { // a progress bar is written over
			if n := uniseg.StringWidth(strings.TrimRight(part, " ")); n > columns {
				t.Errorf("a line of %d columns on a terminal of %d: %q", n, columns, part)
			}
		}
	}
}

// sample has three short conversations. The sample that the project ships begins with a long one, which takes time.
const sample = "testdata/sample.jsonl"

// widths are those of a half screen, of a terminal as it opens, and of a wide one.
var widths = []int{60, 80, 110}

func TestReplayFitsTheTerminal(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "it plays sessions at many widths, and other tests run the same commands")
	wide := t.TempDir() + "/wide.jsonl"
	id := strings.Repeat("長い会話", 30)
	if err := os.WriteFile(wide, []byte(talks(id, "café-👩‍👩‍👧‍👦", strings.Repeat("x", 200), "a b")), 0o644); err != nil {
		t.Fatal(err)
	}
	long := "threshold=3,5 overlap=1,2 safety-ratio=0.7 retain=10 max-summaries=4 max-summary-tokens=400 summarizer=extractive"
	for name, args := range map[string][]string{
		"replay":              {"replay", sample},
		"small window":        {"replay", sample, "--context-window", "4000", "--safety-ratio", "0.5"},
		"quiet":               {"replay", sample, "--quiet"},
		"grid":                {"replay", sample, "--grid", "threshold=1,2,3,5,10 overlap=1,2,3"},
		"grid of many keys":   {"replay", sample, "--grid", long},
		"grid without prices": {"replay", sample, "--grid", "threshold=3,100,200", "--model", "gemini-99"},
		"wide characters":     {"replay", wide},
		"grid of wide ones":   {"replay", wide, "--grid", "threshold=1,5"},
		"left out":            {"replay", sample, "--grid", "threshold=0,5 overlap=0,1", "--context-window", "32000"},
		"large numbers":       {"replay", sample, "--fixed", "10000000", "--price", "input=1000000,output=1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare := remembered()
			for _, columns := range append(widths, 40, 99, 100, 120, 200) {
				text, code := onTerminalWith(t, compare, columns, args...)
				if code != exit.CodeOK && code != exit.CodeFindings {
					t.Errorf("%d columns: exit code %d:\n%s", columns, code, text)
				}
				fits(t, text, columns)
			}
		})
	}
}

func TestTablesOnlyWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "it plays sessions at many widths, and other tests run the same commands")
	for _, args := range [][]string{{"replay", sample}, {"replay", sample, "--quiet"}, {"replay", sample, "--grid", "threshold=3,5"}} {
		compare := remembered()
		for _, columns := range append(widths, 99, 100) {
			text, _ := onTerminalWith(t, compare, columns, args...)
			tables := strings.Contains(text, "pact.") && strings.Contains(text, "saved")
			if lines := strings.Contains(text, "  saved: ") || strings.Contains(text, " saved: "); lines == tables || tables != (columns >= terminal.TableWidth) {
				t.Errorf("%q on %d columns: lines %v, tables %v:\n%s", args, columns, lines, tables, text)
			}
		}
	}
}

func TestColorIsForTerminalsThatTakeIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env     []string
		colored bool
	}{
		"a terminal":     {nil, true},
		"NO_COLOR":       {[]string{"NO_COLOR=1"}, false},
		"NO_COLOR empty": {[]string{"NO_COLOR="}, true}, // https://no-color.org: only if it is not empty
		"TERM=dumb":      {[]string{"TERM=dumb"}, false},
	} {
		for _, args := range [][]string{{"replay", sample, "--only", "dinner*"}, {"nonsense"}} {
			if text, _ := asProcess(t, 80, c.env, args...); strings.Contains(text, "\x1b[") != c.colored {
				t.Errorf("%s: %q: color is not %v:\n%q", name, args, c.colored, text)
			}
		}
	}
	end := replayed(t.Context(), playsFine, strings.NewReader(talks("a")), "-")
	if strings.Contains(end.stdout, "\x1b") || !strings.Contains(end.stdout, "pact.") {
		t.Errorf("a pipe gets color, or no table:\n%q", end.stdout)
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	var paths [][]string
	eachCommand(rootCommand(replay.Compare), func(c *cobra.Command) {
		paths = append(paths, append(strings.Fields(c.CommandPath())[1:], "--help"))
	})
	if len(paths) < 16 {
		t.Fatalf("%d commands only: %q", len(paths), paths)
	}
	for _, args := range paths {
		for _, columns := range widths {
			text, code := onTerminal(t, columns, args...)
			fits(t, text, columns)
			if code != exit.CodeOK || !strings.Contains(text, "Usage:") {
				t.Errorf("%q on %d columns: exit code %d:\n%s", args, columns, code, text)
			}
		}
	}
}

func TestAuditFitsTheTerminal(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "it plays sessions at many widths, and other tests run the same commands")
	file := filepath.Join(t.TempDir(), "sessions.db")
	if code, _, complaints := called(t.Context(), "replay", sample, "--db", file, "--context-window", "8000"); code != exit.CodeOK {
		t.Fatal(code, complaints)
	}
	wide := strings.Repeat("長い会話", 12)
	h := (&ct.History{}).User("i", strings.Repeat("質問です ", 40)+strings.Repeat("x", 300)).Agent("i", "bot", "答え\tだ\n  indented  text with  blanks\n").Turns(4, "bot").Compact("r1", "e1", "e2")
	foreign := storeSession(t, h, "アプリ", wide, wide)
	broken := storeSession(t, h, "shop", "ada", "s1", "UPDATE events SET covered_by = 'r1' WHERE seq = 4")
	h.Events[1].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1 << 30, CandidatesTokenCount: 1 << 30}
	family := storeSession(t, h, "shop", "ada", "s1:sub:"+wide)
	storeIn(t, family, h, "shop", "ada", "s1")
	names := map[string]string{file: "tidewatch-clocks-and-gauges", foreign: wide, broken: "s1", family: "s1"}
	for file, name := range names {
		for _, args := range [][]string{
			{"audit", file}, {"audit", "list", file}, {"audit", file, name}, {"audit", "history", file, name}, {"audit", "context", file, name},
			{"audit", "context", file, name, "--at", "turn2"}, {"audit", "diff", file, name, "--from", "turn1", "--to", "turn4"}, {"audit", "compactions", file, name}, {"audit", "diff", file, name, "--all"}, {"audit", "verify", file},
			{"audit", "verify", file, name}, {"audit", "history", file, name, "--from", "9999"}, {"audit", "result", file, name}, {"audit", "cuts", file, name, "--max-bytes", "100"},
			{"audit", "costs", file}, {"audit", "costs", file, name, "--model", "gemini-2.5-pro"}, {"audit", "list", file, "--children"}, {"audit", "activity", file, name},
		} {
			for _, columns := range widths {
				text, code := onTerminal(t, columns, args...)
				fits(t, text, columns)
				if want := exit.CodeOK; code != want && (code != exit.CodeFindings || args[1] != "verify") || text == "" {
					t.Errorf("%q on %d columns: exit code %d:\n%s", args, columns, code, text)
				}
			}
		}
	}
	for _, columns := range widths {
		for _, command := range []string{"export", "seal"} {
			text, code := onTerminal(t, columns, "audit", command, broken, "s1", "-o", filepath.Join(t.TempDir(), "out"))
			if _, written, found := strings.Cut(text, " written to "); found { // the path is as long as it is
				text = strings.TrimSuffix(text, written)
			}
			if _, sealed, found := strings.Cut(text, " sealed in "); found {
				text = strings.TrimSuffix(text, sealed)
			}
			if fits(t, text, columns); code != exit.CodeOK && code != exit.CodeFindings || text == "" {
				t.Errorf("%s on %d columns: exit code %d:\n%s", command, columns, code, text)
			}
		}
	}
	text, _ := onTerminal(t, 110, "audit", "list", file)
	if !strings.Contains(text, "events  pact.") {
		t.Errorf("no table on a wide terminal:\n%s", text)
	}
	if text, _ := onTerminal(t, 80, "audit", "list", file); !strings.Contains(text, "  events: ") {
		t.Errorf("no lines of name: value on a narrow one:\n%s", text)
	}
	if text, _ := onTerminal(t, 60, "audit", "list", foreign); !strings.Contains(strings.ReplaceAll(text, "\n  ", ""), wide) {
		t.Errorf("a session's name is cut:\n%s", text)
	}
}

// A terminal obeys no character of a result, which a pipe gets as it is.
func TestAResultIsSafeOnATerminal(t *testing.T) {
	t.Parallel()
	said := "first\x1b[2J\r\n" + strings.Repeat("long ", 60) + "\n\u202elast"
	h := (&ct.History{}).User("i", "q").Call("i", "bot", "t", "c1").Response("i", "bot", "t", said, "c1")
	path := storeSession(t, h, "shop", "ada", "s1")
	for _, columns := range widths {
		text, code := onTerminal(t, columns, "audit", "result", path, "r-")
		fits(t, text, columns)
		if code != exit.CodeOK || !strings.HasPrefix(text, `first\x1b[2J`+"\nlong ") || !strings.HasSuffix(text, "\n"+`\u202elast`+"\n") || strings.Count(text, "long") != 60 {
			t.Errorf("%d columns: exit code %d: %q", columns, code, text)
		}
	}
}

func TestErrorsFitTheTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"repaly"}, {"replay"}, {"replay", "--nonsense"}, {"replay", sample, "--grid", "speed=1"}, {"replay", "nothing.jsonl"},
		{"audit", "verfy"}, {"audit", "nothing.db"}, {"audit", "list", sample}, {"audit", "result", sample, "x", "y"}, {"audit", "cuts", sample, "--max-bytes", "20", "--max-tokens", "1"}, {"help", "nonsense"}, {"completion", "fsh"}, {"version", "now"},
	} {
		for _, columns := range widths {
			text, code := onTerminal(t, columns, args...)
			fits(t, text, columns)
			if code != exit.CodeUsage || !strings.HasPrefix(text, "longsession:") {
				t.Errorf("%q on %d columns: exit code %d: %q", args, columns, code, text)
			}
		}
	}
}
