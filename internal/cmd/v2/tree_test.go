package main

import (
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clone returns a folder in which git tracks some files.
func clone(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for file, content := range files {
		put(t, folder, file, content)
	}
	git(t, folder, "init", "-q")
	git(t, folder, "add", "-A", "-f")
	return folder
}

func put(t *testing.T, folder, file, content string) {
	t.Helper()
	name := filepath.Join(folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(named.Replace(content)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, folder string, args ...string) {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// contents returns the files below a folder, those of git left out.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() {
			content, err := os.ReadFile(filepath.Join(folder, file))
			files[file] = string(content)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var small = map[string]string{
	"go.work":           "go 1.25.5\n\nuse (\n\t.\n)\n",
	"go.mod":            "module OURS\n\ngo 1.25.0\n\nrequire ADK v1.7.0\n",
	"go.sum":            "ADK v1.7.0 h1:abc=\n",
	"a.go":              "package a\n\nimport (\n\t\"ADK/session\"\n\t\"ADK/util\"\n)\n",
	"v1.go":             "package a\n\nconst major = 1\n",
	"inner/v1.go":       "package inner\n",
	"inner/a_v1.go":     "package inner\n",
	"a_v1_test.go":      "package a\n",
	"a_v2.go":           "//go:build ignore\n\npackage a\n\nimport _ \"ADK/session\"\n",
	"a_v2_test.go":      "//go:build ignore\n\npackage a\n",
	"overv1.go":         "package a\n",
	"ignored.go":        "//go:build ignore\n\npackage main\n",
	"doc.md":            "`ADK`, and https://OURS/blob/main/v1.go\n",
	"logo.png":          "\x89PNG\x00ADK",
	"latin1.txt":        "\xe9 ADK",
	"testdata/wrong.go": "package ADK wrong\n",
}

func TestFilesOfOneMajorAreInItsTreeOnly(t *testing.T) {
	t.Parallel()
	from, to := clone(t, small), filepath.Join(t.TempDir(), "missing", "v2")
	put(t, from, "untracked.go", "package a\n")
	if err := write(from, to); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"go.work":           "go 1.26.5\n\nuse (\n\t.\n)\n",
		"go.mod":            "module OURS/v2\n\ngo 1.26.5\n\nrequire ADK/v2 v2.2.0\n",
		"go.sum":            "ADK v1.7.0 h1:abc=\n",
		"a.go":              "package a\n\nimport (\n\t\"ADK/v2/session\"\n\t\"ADK/v2/util\"\n)\n",
		"a_v2.go":           "package a\n\nimport _ \"ADK/v2/session\"\n",
		"a_v2_test.go":      "package a\n",
		"overv1.go":         "package a\n",
		"ignored.go":        "//go:build ignore\n\npackage main\n",
		"doc.md":            "`ADK/v2`, and https://OURS/blob/main/v1.go\n",
		"logo.png":          "\x89PNG\x00ADK",
		"latin1.txt":        "\xe9 ADK",
		"testdata/wrong.go": "package ADK/v2 wrong\n",
	}
	for file := range want {
		want[file] = named.Replace(want[file])
	}
	got := contents(t, to)
	for _, file := range slices.Sorted(maps.Keys(want)) {
		if got[file] != want[file] {
			t.Errorf("%s holds %q, want %q", file, got[file], want[file])
		}
	}
	for file := range got {
		if _, wanted := want[file]; !wanted {
			t.Errorf("%s is in the tree", file)
		}
	}
}

// TestImportsAreSortedAnew: a path that gets its major may come behind another one.
func TestImportsAreSortedAnew(t *testing.T) {
	t.Parallel()
	got, err := converted("a.go", []byte(named.Replace("package a\n\nimport (\n\t_ \"ADK\"\n\t_ \"ADK/util\"\n\t_ \"ADK/v2/alpha\"\n)\n")))
	if want := named.Replace("package a\n\nimport (\n\t_ \"ADK/v2\"\n\t_ \"ADK/v2/alpha\"\n\t_ \"ADK/v2/util\"\n)\n"); err != nil || string(got) != want {
		t.Errorf("the file becomes %q, %v, want %q", got, err, want)
	}
}

func TestTheTreeOfATreeIsTheSame(t *testing.T) {
	t.Parallel()
	first, second := filepath.Join(t.TempDir(), "v2"), t.TempDir() // an empty folder is as good as a missing one
	from := clone(t, map[string]string{"go.work": small["go.work"], "go.mod": small["go.mod"], "a.go": small["a.go"], "v1.go": small["v1.go"], "doc.md": small["doc.md"]})
	if err := write(from, first); err != nil {
		t.Fatal(err)
	}
	git(t, first, "init", "-q")
	git(t, first, "add", "-A")
	if err := write(first, second); err != nil {
		t.Fatal(err)
	}
	if one, two := contents(t, first), contents(t, second); len(one) != 4 || !maps.Equal(one, two) {
		t.Errorf("the first tree is %q, the second %q", one, two)
	}
}

func TestARefusalNamesItsRemedy(t *testing.T) {
	t.Parallel()
	lost := clone(t, small)
	if err := os.Remove(filepath.Join(lost, "doc.md")); err != nil {
		t.Fatal(err)
	}
	full := t.TempDir()
	put(t, full, "mine.txt", "keep")
	below := clone(t, map[string]string{"cmd/a.go": "package a\n"})
	bare := t.TempDir()
	put(t, bare, "go.work", small["go.work"])
	for _, tt := range []struct {
		from, to string
		want     []string
	}{
		{clone(t, small), full, []string{full + " is not empty", "remove it, or name a folder that is missing or empty"}},
		{clone(t, small), filepath.Join(full, "mine.txt"), []string{"mine.txt", "name a folder that is missing or empty"}},
		{bare, filepath.Join(t.TempDir(), "v2"), []string{bare, "not a git repository", "root of a clone"}},
		{below, filepath.Join(t.TempDir(), "v2"), []string{below + " is not the root of the library", "run this there"}},
		{lost, filepath.Join(t.TempDir(), "v2"), []string{"doc.md", "git rm"}},
		{clone(t, map[string]string{"go.work": "go 1\n", "a_v2.go": "package a\n"}), filepath.Join(t.TempDir(), "v2"), []string{"a_v2.go", "//go:build ignore"}},
		{clone(t, map[string]string{"go.work": "go 1\n", "a.go": "package\n"}), filepath.Join(t.TempDir(), "v2"), []string{"a.go", "expected"}},
	} {
		err := write(tt.from, tt.to)
		for _, part := range tt.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the error is %v, want %q in it", err, part)
			}
		}
	}
	if got := contents(t, full); len(got) != 1 || got["mine.txt"] != "keep" {
		t.Errorf("a folder that was refused holds %q", got)
	}
}

// TestTheTreesDifferInNothingElse: but for the paths of the two modules, the order of imports, the versions of modules and
// the files by major, the library for ADK v2 is that for ADK v1, file by file.
func TestTheTreesDifferInNothingElse(t *testing.T) {
	t.Parallel()
	root, tree := filepath.Join("..", "..", ".."), filepath.Join(t.TempDir(), "v2")
	listed, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err != nil {
		t.Skipf("the library is not in a clone of its repository: %v", err)
	}
	if err := write(root, tree); err != nil {
		t.Fatal(err)
	}
	first := strings.NewReplacer(adk+"/v2", adk, ours+"/v2", ours)
	same := func(file, text string) string {
		text = withNames(first.Replace(text))
		if formatted, err := format.Source([]byte(text)); err == nil && path.Ext(file) == ".go" {
			return string(formatted)
		}
		return text
	}
	made, compared := contents(t, tree), 0
	for file := range strings.Lines(string(listed)) {
		file = strings.TrimSuffix(file, "\n")
		got, found := made[file]
		delete(made, file)
		base := path.Base(file)
		if base == "v1.go" || strings.HasSuffix(base, "_v1.go") || strings.HasSuffix(base, "_v1_test.go") {
			if found {
				t.Errorf("%s is for ADK v1, and in the tree for ADK v2", file)
			}
			continue
		}
		if !found {
			t.Errorf("%s is lost", file)
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		source := string(content)
		if strings.HasSuffix(base, "_v2.go") || strings.HasSuffix(base, "_v2_test.go") {
			source = strings.TrimPrefix(source, "//go:build ignore\n\n")
		}
		if slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base) {
			continue
		}
		if compared++; same(file, got) != same(file, source) {
			t.Errorf("%s differs in more than paths and names", file)
		}
		if executable(t, filepath.Join(root, file)) != executable(t, filepath.Join(tree, file)) {
			t.Errorf("%s may be run in one tree only", file)
		}
		if path.Ext(file) == ".go" && strings.Contains(got, `"`+adk+`/session"`) {
			t.Errorf("%s imports a package of ADK v1", file)
		}
	}
	for file := range made {
		t.Errorf("%s is added", file)
	}
	if compared < 1000 {
		t.Errorf("%d files compared: the test looks in the wrong place", compared)
	}
}

func executable(t *testing.T, file string) bool {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()&0o111 != 0
}
