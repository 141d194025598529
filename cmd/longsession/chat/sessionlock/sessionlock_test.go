package sessionlock_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/sessionlock"
)

func take(t *testing.T, file, session string) func() {
	t.Helper()
	release, err := sessionlock.Take(file, "app", "ada", session)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestOneChatAtATimeHasASession(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sessions.db")
	release := take(t, file, "talk")
	_, err := sessionlock.Take(file, "app", "ada", "talk")
	var inUse *sessionlock.InUseError
	if !errors.As(err, &inUse) || inUse.Session != "talk" || inUse.PID != os.Getpid() {
		t.Fatalf("the second chat got %v, want an InUseError that names this process", err)
	}
	for _, text := range []string{"session talk is in use", "end that one"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q lacks %q", err, text)
		}
	}
	take(t, file, "another")()
	release()
	release() // a second time does nothing
	take(t, file, "talk")()
	if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
		t.Errorf("lock files are left: %q", left)
	}
}

// Names that look alike in a file name, or belong to another user, are different sessions.
func TestLocksAreOfOneSessionOnly(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sessions.db")
	seen := map[string]bool{}
	for _, who := range [][3]string{
		{"app", "ada", "a/b"}, {"app", "ada", "a_b"}, {"app", "ada", "a:b"}, {"app", "bob", "a/b"}, {"shop", "ada", "a/b"},
		{"app", "ada", strings.Repeat("long", 100)}, {"app", "ada", strings.Repeat("long", 100) + "er"}, {"app", "ada", "日本語"}, {"app", "ada", "../../etc"},
	} {
		release, err := sessionlock.Take(file, who[0], who[1], who[2])
		if err != nil {
			t.Errorf("%q: %v", who, err)
			continue
		}
		defer release()
		seen[who[2]] = true
	}
	if left, _ := filepath.Glob(file + ".*.lock"); len(left) != 9 {
		t.Errorf("%d lock files for 9 sessions: %q", len(left), left)
	}
}

func TestALinkToTheFileLeadsToTheSameLock(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, link := filepath.Join(folder, "sessions.db"), filepath.Join(folder, "link.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no links here:", err)
	}
	defer take(t, file, "talk")()
	var inUse *sessionlock.InUseError
	if _, err := sessionlock.Take(link, "app", "ada", "talk"); !errors.As(err, &inUse) {
		t.Errorf("by the link, the session can be taken twice: %v", err)
	}
}

func TestALockThatCannotBeMadeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := sessionlock.Take(filepath.Join(t.TempDir(), "no such folder", "sessions.db"), "app", "ada", "talk")
	if err == nil || !strings.Contains(err.Error(), "make its folder writable") {
		t.Errorf("the error is %v", err)
	}
}

// The file is removed when it is given back, so whoever has opened it before locks a file without a name. Nobody may be
// let in by that.
func TestNeverTwoHoldersWhileManyComeAndGo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sessions.db")
	var holders atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for taken := 0; taken < 25; {
				release, err := sessionlock.Take(file, "app", "ada", "talk")
				if err != nil {
					continue
				}
				taken++
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d chats have the session", n)
				}
				holders.Add(-1)
				release()
			}
		})
	}
	wait.Wait()
}

// A chat that is killed leaves its lock file behind, and no lock.
func TestAKilledChatHoldsNothing(t *testing.T) {
	t.Parallel()
	if file := os.Getenv("LONGSESSION_TEST_LOCK"); file != "" {
		take(t, file, "talk")
		println("taken")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	file := filepath.Join(t.TempDir(), "sessions.db")
	other := exec.Command(os.Args[0], "-test.run=^TestAKilledChatHoldsNothing$")
	other.Env = append(os.Environ(), "LONGSESSION_TEST_LOCK="+file)
	pipe, err := other.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.StdinPipe(); err != nil { // never closed
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(pipe).ReadString('\n'); err != nil || line != "taken\n" {
		t.Fatalf("the other process wrote %q: %v", line, err)
	}
	_, err = sessionlock.Take(file, "app", "ada", "talk")
	var inUse *sessionlock.InUseError
	if !errors.As(err, &inUse) || inUse.PID != other.Process.Pid {
		t.Errorf("while process %d has the session: %v", other.Process.Pid, err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	take(t, file, "talk")()
}
