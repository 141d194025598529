package agentsmd

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// project writes an AGENTS.md into a folder of its own and one below, and returns a Loader for that.
func project(t testing.TB) (l *Loader, top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "go.mod"), "")
	put(t, filepath.Join(top, "AGENTS.md"), "outer\n")
	put(t, filepath.Join(top, "a", "AGENTS.md"), "inner\n")
	l = NewLoader(filepath.Join(top, "a"))
	l.Global = ""
	return l, top
}

func put(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAFileThatChangesIsReadAsAWhole: between looking at a file and the end of its reading anything can
// happen to it. Other files are loaded in any case, and the next Load reads the file anew.
func TestAFileThatChangesIsReadAsAWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		open   bool // otherwise after reading
		always bool // otherwise once
		change func(t testing.TB, file string, n int)
		want   string
		says   string // Sources[0].Err
		later  string // what the next Load returns
	}{
		{"rewritten before it is opened", true, false, func(t testing.TB, file string, _ int) { put(t, file, "longer text\n") }, "longer text", "", "longer text"},
		{"rewritten while it is read", false, false, func(t testing.TB, file string, _ int) { put(t, file, "longer text\n") }, "longer text", "", "longer text"},
		{"replaced", true, false, func(t testing.TB, file string, _ int) {
			put(t, file+".new", "other\n")
			must(t, os.Rename(file+".new", file))
		}, "other", "", "other"},
		{"growing", false, true, func(t testing.TB, file string, n int) { put(t, file, strings.Repeat("longer\n", n)) }, "", "changed each time", "longer"},
		{"removed before it is opened", true, false, func(t testing.TB, file string, _ int) { must(t, os.Remove(file)) }, "", "has gone", ""},
		{"removed while it is read", false, false, func(t testing.TB, file string, _ int) { must(t, os.Remove(file)) }, "outer", "", ""},
		{"a folder in its place", true, false, func(t testing.TB, file string, _ int) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o777))
		}, "", "is a directory", ""},
		{"a link out of the project in its place", true, false, func(t testing.TB, file string, _ int) {
			put(t, filepath.Join(filepath.Dir(file), "..", "secret"), "secret")
			must(t, os.Remove(file))
			if err := os.Symlink("../secret", file); err != nil {
				t.Skipf("no links here: %v", err)
			}
		}, "", "cannot be read", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, top := project(t)
			file, calls := filepath.Join(top, "AGENTS.md"), 0
			change := func(path string) {
				if calls++; path == file && (c.always || calls == 1) {
					c.change(t, file, calls)
				}
			}
			if c.open {
				l.beforeOpen = change
			} else {
				l.beforeCheck = change
			}
			r, err := l.Load()
			must(t, err)
			if (c.want == "") == strings.Contains(r.Merged, `path="AGENTS.md"`) || !strings.Contains(r.Merged, c.want) ||
				!strings.Contains(r.Merged, "inner") || strings.Contains(r.Merged, "secret") {
				t.Errorf("text is\n%s\nwant %q", r.Merged, c.want)
			}
			switch problem := r.Sources[0].Err; {
			case c.says == "" && problem != nil:
				t.Error(problem)
			case c.says != "" && (problem == nil || !strings.Contains(problem.Error(), c.says) || !strings.Contains(problem.Error(), file)):
				t.Errorf("problem is %v, want %q", problem, c.says)
			}
			l.beforeOpen, l.beforeCheck = nil, nil
			r, err = l.Load()
			must(t, err)
			if (c.later == "") == strings.Contains(r.Merged, `path="AGENTS.md"`) || !strings.Contains(r.Merged, c.later) {
				t.Errorf("later the text is\n%s\nwant %q", r.Merged, c.later)
			}
		})
	}
}

// TestNothingIsReadIfNothingHasChanged: a run begins with a Load, so it must cost no more than a look.
func TestNothingIsReadIfNothingHasChanged(t *testing.T) {
	t.Parallel()
	l, top := project(t)
	reads := 0
	l.beforeOpen = func(string) { reads++ }
	for range 3 {
		_, err := l.Load()
		must(t, err)
	}
	if reads != 2 {
		t.Errorf("2 files are read %d times", reads)
	}
	put(t, filepath.Join(top, "AGENTS.md"), "changed")
	_, err := l.Load()
	must(t, err)
	if reads != 4 {
		t.Errorf("after a change there are %d reads", reads)
	}
}

// TestAFailureToReadIsTriedAgain: the file is away for a moment, and then is the very same again.
func TestAFailureToReadIsTriedAgain(t *testing.T) {
	t.Parallel()
	l, top := project(t)
	file := filepath.Join(top, "AGENTS.md")
	l.beforeOpen = func(path string) {
		if path == file {
			must(t, os.Rename(file, file+".away"))
		}
	}
	r, err := l.Load()
	must(t, err)
	if r.Sources[0].Err == nil || strings.Contains(r.Merged, "outer") {
		t.Fatalf("the file is read: %+v", r)
	}
	must(t, os.Rename(file+".away", file))
	l.beforeOpen = nil
	if r, err = l.Load(); err != nil || r.Err() != nil || !strings.Contains(r.Merged, "outer") {
		t.Errorf("problems %v, %v, text is\n%s", err, r.Err(), r.Merged)
	}
}

// TestALoaderMayBeShared is for the race detector.
func TestALoaderMayBeShared(t *testing.T) {
	t.Parallel()
	l, top := project(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if r, err := l.Load(); err != nil || !strings.Contains(r.Merged, "inner\n</agents_md>") {
					t.Errorf("text is\n%s\nerror %v", r.Merged, err)
				}
			}
		})
	}
	for i := range 50 {
		put(t, filepath.Join(top, "AGENTS.md"), strings.Repeat("outer\n", 1+i%3))
	}
	all.Wait()
}
