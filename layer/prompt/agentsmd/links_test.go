package agentsmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileWithTwoNamesIsLoadedOnce(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{".git/": "", "AGENTS.md": "root", "a/b/": ""})
	for _, link := range []struct{ target, name string }{
		{"../AGENTS.md", "a/AGENTS.md"}, {filepath.Join(top, "AGENTS.md"), "a/b/AGENTS.md"},
	} {
		symlink(t, link.target, filepath.Join(top, link.name))
	}
	l := loader(filepath.Join(top, "a", "b"))
	l.Global = top
	r := load(t, l)
	wantFrames(t, r, "a/b/AGENTS.md: root")
	if r.Err() != nil || r.Sources[0].SameAs != filepath.Join(top, "a", "b", "AGENTS.md") {
		t.Errorf("sources are %+v, error %v", r.Sources, r.Err())
	}
}

func symlink(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no links here: %v", err)
	}
}

func TestLinksInFrontOfTheProjectAreFollowed(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{"real/.git/": "", "real/AGENTS.md": "root", "real/a/AGENTS.md": "here", "links/": "", "links/AGENTS.md": "not this"})
	symlink(t, "../real", filepath.Join(top, "links", "root"))
	symlink(t, "../real/a", filepath.Join(top, "links", "work"))
	for _, work := range []string{"links/root/a", "links/work"} {
		r := load(t, loader(filepath.Join(top, work)))
		wantFrames(t, r, "AGENTS.md: root", "a/AGENTS.md: here")
		if r.Root != filepath.Join(top, "real") {
			t.Errorf("the root is %s", r.Root)
		}
	}
}

func TestLinksLeadNowhereElse(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		"key": "secret", "p-evil/AGENTS.md": "secret", "p/.git/": "", "p/docs/rules.md": "rules", "p/a/b/c/d/e/AGENTS.md": "here", "home/": "",
	})
	for name, target := range map[string]string{
		"p/AGENTS.md": "../key", "p/a/AGENTS.md": filepath.Join(top, "p-evil", "AGENTS.md"), "p/a/b/AGENTS.md": "AGENTS.md",
		"p/a/b/c/AGENTS.md": "nowhere", "p/a/b/c/d/AGENTS.md": "../../../../docs/rules.md", "home/AGENTS.md": "../key",
	} {
		symlink(t, target, filepath.Join(top, name))
	}
	l := loader(filepath.Join(top, "p", "a", "b", "c", "d", "e"))
	l.Global = filepath.Join(top, "home")
	r := load(t, l)
	wantFrames(t, r, "a/b/c/d/AGENTS.md: rules", "a/b/c/d/e/AGENTS.md: here")
	if strings.Contains(r.Merged, "secret") {
		t.Fatal("a secret is in the text")
	}
	wantProblem(t, r, filepath.Join(top, "p/AGENTS.md"), "link", filepath.Join(top, "key"), "outside of "+filepath.Join(top, "p"), "copy")
	wantProblem(t, r, filepath.Join(top, "p/a/AGENTS.md"), "outside of")
	wantProblem(t, r, filepath.Join(top, "p/a/b/AGENTS.md"), "in a circle")
	wantProblem(t, r, filepath.Join(top, "p/a/b/c/AGENTS.md"), "nowhere")
	wantProblem(t, r, filepath.Join(top, "home/AGENTS.md"), "outside of "+filepath.Join(top, "home"))
}
