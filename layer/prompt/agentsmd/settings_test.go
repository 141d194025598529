package agentsmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

func TestAFileIsReadAgainOnlyIfItHasChanged(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{".git/": "", "AGENTS.md": "one", "a/": ""})
	file, past := filepath.Join(top, "AGENTS.md"), time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(file string, when time.Time) {
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	overwrite := func(text string, when time.Time) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		at(file, when)
	}
	at(file, past)
	l := loader(filepath.Join(top, "a"))
	wantFrames(t, load(t, l), "AGENTS.md: one")
	overwrite("two", past)
	wantFrames(t, load(t, l), "AGENTS.md: one") // same size, time and identity: not read
	overwrite("six", past.Add(time.Second))
	wantFrames(t, load(t, l), "AGENTS.md: six")
	overwrite("three", past.Add(time.Second))
	wantFrames(t, load(t, l), "AGENTS.md: three")
	write(t, file+".new", "seven", false)
	at(file+".new", past.Add(time.Second))
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	wantFrames(t, load(t, l), "AGENTS.md: seven") // same size and time, but another file
	write(t, filepath.Join(top, "a", "AGENTS.md"), "new", false)
	wantFrames(t, load(t, l), "AGENTS.md: seven", "a/AGENTS.md: new")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantFrames(t, load(t, l), "a/AGENTS.md: new")
	write(t, filepath.Join(top, "a", "go.mod"), "", false)
	r := load(t, l)
	wantFrames(t, r, "AGENTS.md: new")
	r.Sources[0].Path = "changed by the caller"
	if again := load(t, l); again.Sources[0].Path != filepath.Join(top, "a", "AGENTS.md") {
		t.Error("a caller can change the sources of the next one")
	}
}

func TestAnUntrustedProjectIsNotRead(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{"home/AGENTS.md": "mine", "p/.git/": "", "p/AGENTS.md": "theirs", "p/a/": "", "q/.git/": ""})
	trust, asked := false, []string{}
	ask := func(root string) bool { asked = append(asked, root); return trust }
	l := loader(filepath.Join(top, "p", "a"))
	l.Global, l.Trust = filepath.Join(top, "home"), ask
	r := load(t, l)
	wantFrames(t, r, `AGENTS.md scope="global": mine`)
	wantProblem(t, r, filepath.Join(top, "p", "AGENTS.md"), "not trusted")
	if !errors.Is(r.Err(), prompt.ErrUntrusted) || strings.Contains(r.Merged, "theirs") {
		t.Errorf("error is %v", r.Err())
	}
	trust = true
	wantFrames(t, load(t, l), `AGENTS.md scope="global": mine`, "AGENTS.md: theirs")
	trust = false
	wantFrames(t, load(t, l), `AGENTS.md scope="global": mine`)
	if want := filepath.Join(top, "p"); !slices.Equal(asked, []string{want, want, want}) {
		t.Errorf("asked about %q", asked)
	}
	l = loader(filepath.Join(top, "q"))
	l.Trust = ask
	if load(t, l); len(asked) != 3 {
		t.Error("asked about a project without files")
	}
	l = loader(filepath.Join(top, "p"))
	l.Trust = func(string) bool { panic("no") }
	wantFrames(t, load(t, l))
}

func TestAMissingWorkingDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{"file": "", "AGENTS.md": "here"})
	for _, dir := range []string{filepath.Join(top, "gone"), filepath.Join(top, "file"), "a\x00b"} {
		l := loader(dir)
		r, err := l.Load()
		if err == nil || !strings.Contains(err.Error(), "working directory") || r.Merged != "" {
			t.Errorf("%q: %+v, %v", dir, r, err)
		}
		if text, err := l.Text(t.Context()); text != "" || err == nil {
			t.Errorf("%q: Text = %q, %v", dir, text, err)
		}
	}
	dir := filepath.Join(top, "later")
	l := loader(dir)
	if _, err := l.Load(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	write(t, filepath.Join(dir, "AGENTS.md"), "now", false)
	wantFrames(t, load(t, l), "AGENTS.md: now")
}

func TestBadSettingsAreRefused(t *testing.T) {
	t.Parallel()
	l := loader(t.TempDir())
	l.MaxBytes, l.FileNames, l.RootMarkers = -1, []string{"a/b"}, []string{"..", ""}
	_, err := l.Load()
	for _, want := range []string{"MaxBytes is -1", `FileNames is "a/b"`, `RootMarkers is ".."`, `RootMarkers is ""`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %s: %v", want, err)
		}
	}
	var config *prompt.ConfigError
	if !errors.As(err, &config) || config.Field != "Loader.MaxBytes" {
		t.Errorf("error is %v", err)
	}
	l = loader(t.TempDir())
	l.FileNames = []string{}
	if _, err := l.Load(); err == nil || !strings.Contains(err.Error(), "FileNames is") {
		t.Errorf("error is %v", err)
	}
}
