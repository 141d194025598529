package chatcmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// project makes a folder with project files.
func project(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module x\n", "AGENTS.md": "Answer in verse.\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestAPersonIsAskedOncePerFolder(t *testing.T) {
	t.Parallel()
	for _, yes := range []bool{true, false} {
		one, other := project(t), project(t)
		file := filepath.Join(t.TempDir(), "new", "trusted")
		var asked []string
		chat := func(folder string) bool { // a new process each time
			tr := trust{mode: trustAsk, file: file, say: func(text string) { t.Error(text) }, ask: func(folder string) (bool, error) {
				asked = append(asked, folder)
				return yes, nil
			}}
			l, err := tr.loader(folder)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Load()
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(got.Merged, "Answer in verse.")
		}
		for range 3 {
			if chat(one) != yes {
				t.Errorf("the answer was %v, and the file was read: %v", yes, !yes)
			}
		}
		if chat(other) != yes || len(asked) != 2 || asked[0] != one || asked[1] != other {
			t.Errorf("asked about %q, want each of two folders once", asked)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file of answers: %v, %v", info, err)
		}
	}
}

func TestTheNewestAnswerCounts(t *testing.T) {
	t.Parallel()
	tr := trust{mode: trustAsk, file: filepath.Join(t.TempDir(), "trusted")}
	if known, _ := tr.remembered("/a"); known {
		t.Error("knows a folder that nobody was asked about")
	}
	for _, answer := range []struct {
		folder string
		yes    bool
	}{{"/a b\n", true}, {"/a", true}, {"/a", false}} {
		if err := tr.remember(answer.folder, answer.yes); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]bool{"/a b\n": true, "/a": false} {
		if known, yes := tr.remembered(folder); !known || yes != want {
			t.Errorf("%q: known %v, %v, want %v", folder, known, yes, want)
		}
	}
}

func TestNobodyIsAskedWithoutATerminal(t *testing.T) {
	t.Parallel()
	folder := project(t)
	for _, c := range []struct {
		mode string
		want bool
		said int
	}{{trustAsk, false, 1}, {trustYes, true, 0}, {trustNo, false, 0}} {
		said := 0
		tr := trust{mode: c.mode, file: filepath.Join(t.TempDir(), "trusted"), say: func(string) { said++ }}
		l, err := tr.loader(folder)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Load()
		if read := strings.Contains(got.Merged, "Answer in verse."); err != nil || read != c.want || said != c.said {
			t.Errorf("--trust %s: read %v, said %d, error %v", c.mode, read, said, err)
		}
	}
}

// TestAFileThatComesLaterIsNotFollowed: what writes an AGENTS.md in the middle of a chat has not asked anybody.
func TestAFileThatComesLaterIsNotFollowed(t *testing.T) {
	t.Parallel()
	folder := project(t)
	if err := os.Remove(filepath.Join(folder, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	tr := trust{mode: trustAsk, file: filepath.Join(t.TempDir(), "trusted"), ask: func(string) (bool, error) {
		t.Error("asked about a folder without project files")
		return false, nil
	}}
	l, err := tr.loader(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "AGENTS.md"), []byte("Answer in verse.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Load(); err != nil || strings.Contains(got.Merged, "verse") {
		t.Errorf("the new file is followed: %q, %v", got.Merged, err)
	}
	if err := tr.remember(folder, true); err != nil {
		t.Fatal(err)
	}
	if l, err = tr.loader(folder); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Load(); err != nil || !strings.Contains(got.Merged, "verse") {
		t.Errorf("a trusted file is not followed: %q, %v", got.Merged, err)
	}
}

func TestAnAnswerIsOneLineAndNoByteMore(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]bool{"y\nhello\n": true, "YES\nhello\n": true, "\nhello\n": false, "n\nhello\n": false, "yesterday\nhello\n": false} {
		in := strings.NewReader(typed)
		var out strings.Builder
		got, err := askTrust(t.Context(), in, &out)("/some\x1b[2Jwhere")
		if err != nil || got != want || in.Len() != len("hello\n") {
			t.Errorf("%q: %v, %v, and %d bytes are left", typed, got, err, in.Len())
		}
		if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "[y/N] ") {
			t.Errorf("asked %q", out.String())
		}
	}
	if got, err := askTrust(t.Context(), strings.NewReader("y"), &strings.Builder{})("/x"); err != nil || !got {
		t.Errorf("a line at the end of the input: %v, %v", got, err)
	}
	failed := errors.New("failed")
	if _, err := askTrust(t.Context(), broken{failed}, &strings.Builder{})("/x"); !errors.Is(err, failed) {
		t.Errorf("an input that fails: %v", err)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
