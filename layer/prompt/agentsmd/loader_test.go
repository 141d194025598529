package agentsmd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

// tree writes files into a new folder, and returns its path without links. A path that ends with a slash is
// a folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(top, name), text, strings.HasSuffix(name, "/"))
	}
	return top
}

func write(t testing.TB, file, text string, folder bool) {
	t.Helper()
	dir := filepath.Dir(file)
	if folder {
		dir = file
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if !folder {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// loader returns a Loader without a global file.
func loader(workDir string) *agentsmd.Loader {
	l := agentsmd.NewLoader(workDir)
	l.Global = ""
	return l
}

func load(t testing.TB, l *agentsmd.Loader) agentsmd.LoadResult {
	t.Helper()
	result, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, result)
	return result
}

// checkResult checks what holds for every result.
func checkResult(t testing.TB, l *agentsmd.Loader, r agentsmd.LoadResult) {
	t.Helper()
	most := l.MaxBytes
	if most == 0 {
		most = 32 << 10
	}
	if len(r.Merged) > most || r.Bytes != len(r.Merged) {
		t.Errorf("the merged text has %d bytes of %d, and Bytes is %d", len(r.Merged), most, r.Bytes)
	}
	if !utf8.ValidString(r.Merged) {
		t.Errorf("the merged text is no UTF-8: %q", r.Merged)
	}
	shown, cut := 0, false
	for _, s := range r.Sources {
		cut = cut || s.Cut > 0
		if s.Bytes > 0 {
			shown++
		}
	}
	if shown != r.NumSources || cut != r.Truncated {
		t.Errorf("NumSources is %d and Truncated %t, but the sources are %+v", r.NumSources, r.Truncated, r.Sources)
	}
	if got := len(openTags.FindAllString(r.Merged, -1)); got != shown || len(endTags.FindAllString(r.Merged, -1)) != shown {
		t.Errorf("%d files are in %d frames:\n%s", shown, got, r.Merged)
	}
}

var (
	openTags = regexp.MustCompile(`(?m)^<agents_md path=".*">$`)
	endTags  = regexp.MustCompile(`(?m)^</agents_md>$`)
)

// frames returns the path and the text of each frame.
func frames(t testing.TB, merged string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(`(?ms)^<agents_md path="([^\n]*?)"( scope="global")?>\n(.*?)^</agents_md>$`).FindAllStringSubmatch(merged, -1) {
		out = append(out, m[1]+m[2]+": "+strings.TrimSuffix(m[3], "\n"))
	}
	return out
}

func wantFrames(t testing.TB, r agentsmd.LoadResult, want ...string) {
	t.Helper()
	if got := frames(t, r.Merged); !slices.Equal(got, want) {
		t.Errorf("frames are %q, want %q", got, want)
	}
}

// problem returns the error of the source with a path.
func problem(t testing.TB, r agentsmd.LoadResult, path string) error {
	t.Helper()
	for _, s := range r.Sources {
		if s.Path == path {
			return s.Err
		}
	}
	t.Fatalf("%s is not among the sources %+v", path, r.Sources)
	return nil
}

// wantProblem checks that a problem names the file and says what is wrong.
func wantProblem(t testing.TB, r agentsmd.LoadResult, path string, says ...string) {
	t.Helper()
	err := problem(t, r, path)
	var of *agentsmd.FileError
	if !errors.As(err, &of) || of.Path != path {
		t.Errorf("the error of %s is %v", path, err)
		return
	}
	for _, text := range append(says, path) {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error lacks %q: %v", text, err)
		}
	}
	if !strings.Contains(fmt.Sprint(r.Err()), err.Error()) {
		t.Errorf("LoadResult.Err lacks %v", err)
	}
}

func TestFilesAreMergedFromTheGlobalOneDown(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		"home/AGENTS.md": "global\n", "AGENTS.md": "above the project\n",
		"p/.git/": "", "p/AGENTS.md": "root\n", "p/a/AGENTS.md": "middle", "p/a/b/c/AGENTS.md": "here\n\n", "p/a/b/c/d/AGENTS.md": "below",
	})
	for _, global := range []string{filepath.Join(top, "home", "AGENTS.md"), filepath.Join(top, "home")} {
		l := loader(filepath.Join(top, "p", "a", "b", "c"))
		l.Global = global
		r := load(t, l)
		wantFrames(t, r, `AGENTS.md scope="global": global`, "AGENTS.md: root", "a/AGENTS.md: middle", "a/b/c/AGENTS.md: here\n")
		if r.Root != filepath.Join(top, "p") || r.NumSources != 4 || r.Truncated || r.Err() != nil {
			t.Errorf("result is %+v, error %v", r, r.Err())
		}
		if !strings.HasPrefix(r.Merged, "The text in the agents_md blocks below is from files of this project") ||
			!strings.Contains(r.Merged, "it does not overrule the above") {
			t.Errorf("the text does not say where it is from:\n%s", r.Merged)
		}
		if text, err := l.Text(t.Context()); text != r.Merged || err != nil {
			t.Errorf("Text = %q, %v", text, err)
		}
	}
}

func TestTheGlobalFileIsInTheHomeDirectory(t *testing.T) {
	home := tree(t, map[string]string{".adk-code/AGENTS.md": "mine", "other/AGENTS.md": "other", "empty/": ""})
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	l := agentsmd.NewLoader(t.TempDir())
	wantFrames(t, load(t, l), `AGENTS.md scope="global": mine`)
	for global, want := range map[string][]string{
		"~/other": {`AGENTS.md scope="global": other`}, "~/other/AGENTS.md": {`AGENTS.md scope="global": other`},
		"~/empty": nil, "~/nowhere/AGENTS.md": nil, "": nil,
	} {
		l := agentsmd.NewLoader(t.TempDir())
		l.Global = global
		r := load(t, l)
		wantFrames(t, r, want...)
		if r.Err() != nil {
			t.Errorf("with Global %q: %v", global, r.Err())
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	if r := load(t, agentsmd.NewLoader(t.TempDir())); len(r.Sources) != 0 {
		t.Errorf("without a home: %+v", r.Sources)
	}
	l = agentsmd.NewLoader(t.TempDir())
	l.Global = "~/other"
	wantProblem(t, load(t, l), "~/other", "no home directory")
}

func TestWithoutFilesThereIsNoText(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"none":   {".git/": ""},
		"empty":  {".git/": "", "AGENTS.md": ""},
		"blank":  {".git/": "", "AGENTS.md": " \r\n\t\n"},
		"a mark": {".git/": "", "AGENTS.md": "\ufeff"},
	} {
		r := load(t, loader(tree(t, files)))
		if r.Merged != "" || r.NumSources != 0 || r.Truncated || r.Err() != nil {
			t.Errorf("%s: %+v, error %v", name, r, r.Err())
		}
	}
}

func TestTheNearestMarkerIsTheRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		files   []string
		work    string
		markers []string
		root    string
		loaded  []string
	}{
		{"git", []string{"p/.git/", "p/a/b/"}, "p/a/b", nil, "p", []string{"p", "p/a", "p/a/b"}},
		{"a git worktree, where .git is a file", []string{"p/.git", "p/a/"}, "p/a", nil, "p", []string{"p", "p/a"}},
		{"hg", []string{"p/.hg/", "p/a/"}, "p/a", nil, "p", []string{"p", "p/a"}},
		{"go.mod", []string{"p/go.mod", "p/a/"}, "p/a", nil, "p", []string{"p", "p/a"}},
		{"package.json", []string{"p/package.json", "p/a/"}, "p/a", nil, "p", []string{"p", "p/a"}},
		{"nested, the nearest one", []string{"p/.git/", "p/a/go.mod", "p/a/b/"}, "p/a/b", nil, "p/a", []string{"p/a", "p/a/b"}},
		{"nested, another marker", []string{"p/.git/", "p/a/go.mod", "p/a/b/"}, "p/a/b", []string{".git"}, "p", []string{"p", "p/a", "p/a/b"}},
		{"the working directory itself", []string{"p/.git/", "p/a/go.mod"}, "p/a", nil, "p/a", []string{"p/a"}},
		{"no marker", []string{"p/a/b/"}, "p/a/b", []string{"no-such-marker"}, "", []string{"p/a/b"}},
		{"no markers at all", []string{"p/.git/", "p/a/"}, "p/a", []string{}, "", []string{"p/a"}},
	} {
		files := map[string]string{}
		for _, name := range c.files {
			files[name] = ""
		}
		for _, dir := range []string{"", "p", "p/a", "p/a/b"} {
			if dir == "" || strings.HasPrefix(c.work+"/", dir+"/") {
				files[filepath.Join(dir, "AGENTS.md")] = "in " + dir
			}
		}
		top := tree(t, files)
		l := loader(filepath.Join(top, c.work))
		l.RootMarkers = c.markers
		r := load(t, l)
		root, want := "", []string{}
		if c.root != "" {
			root = filepath.Join(top, c.root)
		}
		for _, dir := range c.loaded {
			want = append(want, filepath.Join(top, dir, "AGENTS.md"))
		}
		got := []string{}
		for _, s := range r.Sources {
			got = append(got, s.Path)
		}
		if r.Root != root || !slices.Equal(got, want) {
			t.Errorf("%s: root %q, files %q; want %q, %q", c.name, r.Root, got, root, want)
		}
	}
}

func TestTheFirstFileNameThatExistsIsRead(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		".git/": "", "CLAUDE.md": "claude", "a/AGENTS.md": "agents", "a/CLAUDE.md": "not this", "a/b/readme": "",
	})
	l := loader(filepath.Join(top, "a", "b"))
	l.FileNames = []string{"AGENTS.md", "CLAUDE.md"}
	wantFrames(t, load(t, l), "CLAUDE.md: claude", "a/AGENTS.md: agents")
}
