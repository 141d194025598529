//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asCommand makes the test binary the command.
const asCommand = "LONGSESSION_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

const (
	first  = `{"id":"first","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello!"}]}` + "\n"
	second = `{"id":"second","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello!"}]}` + "\n"
)

// running is a replay of standard input that has reported its first conversation and waits for
// more.
type running struct {
	cmd    *exec.Cmd
	folder string
	stdin  io.WriteCloser
	stdout io.ReadCloser
	lines  *bufio.Reader // of stdout
	stderr bytes.Buffer
}

// start begins a replay, with a command before it that runs it, if any.
func start(t *testing.T, by ...string) *running {
	t.Helper()
	r := &running{folder: t.TempDir()}
	args := append(by, os.Args[0], "replay", "-", "--jobs", "1", "--db", "kept.db", "--html", "report.html")
	r.cmd = exec.Command(args[0], args[1:]...)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = r.folder, append(os.Environ(), asCommand+"=1"), &r.stderr
	var err error
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if r.stdout, err = r.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() }) // it has ended, unless the test failed
	if _, err := io.WriteString(r.stdin, first); err != nil {
		t.Fatal(err)
	}
	r.lines = bufio.NewReader(r.stdout)
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v before the first conversation was reported; stderr: %s", err, &r.stderr)
		}
		if strings.HasPrefix(line, "first ") {
			return r
		}
	}
}

// ended checks how the replay ended, and that it left the sessions and nothing half-written.
func (r *running) ended(t *testing.T, code int, stderr string) {
	t.Helper()
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Errorf("ended with %v, want exit code %d", err, code)
	}
	if r.stderr.String() != stderr {
		t.Errorf("stderr is %q, want %q", &r.stderr, stderr)
	}
	left, err := filepath.Glob(filepath.Join(r.folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(r.folder, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	if left = append(left, hidden...); len(left) != 1 || filepath.Base(left[0]) != "kept.db" {
		t.Errorf("it left %q, want kept.db alone", left)
	}
}

func TestSignalsEndAReplayInGoodOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			if sig == syscall.SIGHUP && signal.Ignored(sig) {
				t.Skip("the tests run under nohup, and so does the command")
			}
			r := start(t)
			if err := r.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(r.lines)
			if err != nil || !strings.Contains(string(rest), "total so far, 1 ") {
				t.Errorf("the total so far is missing: %v\n%s", err, rest)
			}
			r.ended(t, 130, "longsession: interrupted: 1 conversation done; report.html was not written\n")
		})
	}
}

func TestReaderThatGoesAwayEndsAReplayInGoodOrder(t *testing.T) {
	t.Parallel()
	r := start(t)
	if err := r.stdout.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.stdin, second); err != nil {
		t.Fatal(err)
	}
	r.ended(t, 3, "longsession: the report could not be written: write /dev/stdout: broken pipe\n")
}

func TestReplayUnderNohupOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip("there is no nohup")
	}
	r := start(t, nohup)
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.stdin, second); err != nil {
		t.Fatal(err)
	}
	if err := r.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r.lines)
	if err != nil || !strings.Contains(string(rest), "\ntotal of 2 ") {
		t.Errorf("the total is missing: %v\n%s", err, rest)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v; stderr: %s", err, &r.stderr)
	}
}

// Whatever is written to a pipe that nobody reads any more, the command says so and ends with 3.
func TestPipeThatNobodyReadsEndsWithThree(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, input := filepath.Join(folder, "kept.db"), filepath.Join(folder, "input.jsonl")
	if err := os.WriteFile(input, []byte(first+second), 0o644); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		return cmd
	}
	if out, err := command("replay", input, "--db", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"replay", input}, {"replay", input, "--json"}, {"replay", input, "--quiet"}, {"replay", input, "--grid", "threshold=3,5"},
		{"audit", file}, {"audit", file, "first"}, {"audit", "list", file}, {"audit", "history", file, "first"},
		{"audit", "context", file, "first"}, {"audit", "compactions", file, "first"}, {"audit", "diff", file, "first"},
		{"audit", "verify", file}, {"audit", "verify", file, "--json"}, {"audit", "export", file, "first"}, {"audit", "seal", file},
		{"version"}, {"--version"}, {"--help"}, {"help", "audit"}, {"audit", "list", "--help"}, {}, {"completion"}, {"completion", "bash"},
	} {
		name := strings.Join(args, " ")
		t.Run(strings.ReplaceAll(name, folder, ""), func(t *testing.T) {
			t.Parallel()
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			if err := reader.Close(); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd := command(args...)
			cmd.Stdout, cmd.Stderr = writer, &stderr
			err = cmd.Run()
			var ended *exec.ExitError
			if !errors.As(err, &ended) || ended.ExitCode() != 3 {
				t.Errorf("it ended with %v, want exit code 3; stderr %q", err, &stderr)
			}
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n") // export warns before it writes
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, "longsession: ") || !strings.Contains(last, "broken pipe") {
				t.Errorf("stderr %q", &stderr)
			}
		})
	}
}
