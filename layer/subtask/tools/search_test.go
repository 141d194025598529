package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/subtask/tools"
)

var project = map[string]string{
	"main.go": "package main\n\nfunc main() {\n\tserve()\n}\n", "README.md": "# Serve\nserve it\n",
	"cmd/api/main.go": "package main\n// TODO serve\n", "cmd/api/api_test.go": "package main\n",
	"docs/a.md": "a\n", "docs/deep/er/b.md": "b\n", ".github/ci.yml": "run: serve\n", ".git/config": "serve\n",
	"node_modules/x/index.js": "serve\n", "data.bin": "serve\x00\x01", "odd\nname.go": "serve\n",
}

func TestGlob(t *testing.T) {
	t.Parallel()
	_, by := tree(t, tools.FilesConfig{}, project)
	for _, tt := range []struct{ path, pattern, files, note, err string }{
		{pattern: "*.go", files: `["main.go","odd\nname.go"]`},
		{pattern: "**/*.go", files: `["cmd/api/api_test.go","cmd/api/main.go","main.go","odd\nname.go"]`},
		{pattern: "./cmd/**/*.go", files: `["cmd/api/api_test.go","cmd/api/main.go"]`},
		{path: "cmd", pattern: "**/main.{go,rs}", files: `["cmd/api/main.go"]`},
		{path: "cmd", pattern: "../*.md", files: `["README.md"]`},
		{pattern: "docs/**", files: `["docs/a.md","docs/deep/er/b.md"]`},
		{pattern: "**/*.yml", files: `[".github/ci.yml"]`},
		{pattern: "main.go", files: `["main.go"]`},
		{pattern: "**/config", files: "null", note: "no file matches"},
		{path: ".git", pattern: "*", files: `[".git/config"]`},
		{pattern: "*.yml", files: "null", note: "**/*.yml looks into all"},
		{pattern: "../*", files: "null", err: "leads out of the root"},
		{pattern: "cmd/*/../../../*", files: "null", err: ".. behind a wildcard"},
		{pattern: "/etc/*", files: "null", err: "outside of the root"},
		{pattern: "[a", files: "null", err: "is not valid"},
		{pattern: "", files: "null", err: "pattern is missing"},
		{pattern: strings.Repeat("*", 1_001), files: "null", err: "has 1001 bytes"},
		{pattern: strings.Repeat("**/a", 7), files: "null", err: "too many **"},
		{pattern: strings.Repeat("{a,a,a}", 20), files: "null", err: "too many **"},
		{path: "main.go", pattern: "*", files: "null", err: "is not a folder"},
		{path: "dosc", pattern: "*", files: "null", err: `nearest: "docs"`},
	} {
		got := call(t, t.Context(), by["glob"], map[string]any{"pattern": tt.pattern, "path": tt.path})
		if files := list(t, got, "files"); files != tt.files {
			t.Errorf("%q in %q: %s, want %s", tt.pattern, tt.path, files, tt.files)
		}
		want(t, tt.pattern+": note", text(got, "note"), tt.note)
		want(t, tt.pattern+": error", text(got, "error"), tt.err)
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	_, by := tree(t, tools.FilesConfig{}, project)
	for _, tt := range []struct {
		what           string
		args           map[string]any
		matches        string
		count          int
		note, mistaken string
	}{
		{what: "all", args: map[string]any{"pattern": "serve"}, count: 5, note: "1 binary files are skipped",
			matches: ".github/ci.yml:1:run: serve\nREADME.md:2:serve it\ncmd/api/main.go:2:// TODO serve\nmain.go:4:\tserve()\n\"odd\\nname.go\":1:serve\n"},
		{what: "case", args: map[string]any{"pattern": "SERVE", "ignore_case": true, "path": "README.md"}, count: 2, matches: "README.md:1:# Serve\nREADME.md:2:serve it\n"},
		{what: "by name", args: map[string]any{"pattern": "serve", "glob": "*.md"}, count: 1, matches: "README.md:2:serve it\n"},
		{what: "by path", args: map[string]any{"pattern": "package", "glob": "cmd/**/*_test.go"}, count: 1, matches: "cmd/api/api_test.go:1:package main\n"},
		{what: "files", args: map[string]any{"pattern": "main", "files_only": true}, count: 3, matches: "cmd/api/api_test.go\ncmd/api/main.go\nmain.go\n"},
		{what: "context", args: map[string]any{"pattern": "serve", "path": "main.go", "context": 1}, count: 1, matches: "main.go-3-func main() {\nmain.go:4:\tserve()\nmain.go-5-}\n"},
		{what: "groups", args: map[string]any{"pattern": "^package|serve", "path": "main.go", "context": 1}, count: 2,
			matches: "main.go:1:package main\nmain.go-2-\nmain.go-3-func main() {\nmain.go:4:\tserve()\nmain.go-5-}\n"},
		{what: "nothing", args: map[string]any{"pattern": "nowhere"}, note: "no line matches"},
		{what: "line ends", args: map[string]any{"pattern": `main\n`}, note: "within one line"},
		{what: "skipped on purpose", args: map[string]any{"pattern": "serve", "path": ".git"}, count: 1, matches: ".git/config:1:serve\n"},
		{what: "lookahead", args: map[string]any{"pattern": "(?=x)"}, mistaken: "not a regular expression of RE2"},
		{what: "open", args: map[string]any{"pattern": "serve("}, mistaken: `put a \ before`},
		{what: "empty", args: map[string]any{"pattern": ""}, mistaken: "pattern is missing"},
		{what: "large", args: map[string]any{"pattern": strings.Repeat("a", 2_001)}, mistaken: "has 2001 bytes"},
		{what: "negative", args: map[string]any{"pattern": "a", "context": -1}, mistaken: "must not be negative"},
		{what: "bad glob", args: map[string]any{"pattern": "a", "glob": "[a"}, mistaken: "is not valid"},
	} {
		got := call(t, t.Context(), by["grep"], tt.args)
		if text(got, "matches") != tt.matches || number(got, "count") != tt.count {
			t.Errorf("%s: %d matches %q", tt.what, number(got, "count"), text(got, "matches"))
		}
		want(t, tt.what+": note", text(got, "note"), tt.note)
		want(t, tt.what+": error", text(got, "error"), tt.mistaken)
	}
}

func TestGrepSeparatesGroups(t *testing.T) {
	t.Parallel()
	_, by := tree(t, tools.FilesConfig{}, map[string]string{"a": "x\n1\n2\n3\nx\n", "b": "0\nx\n"})
	got := call(t, t.Context(), by["grep"], map[string]any{"pattern": "x", "context": 1})
	if text(got, "matches") != "a:1:x\na-2-1\n--\na-4-3\na:5:x\n--\nb-1-0\nb:2:x\n" || number(got, "files") != 2 {
		t.Errorf("%v", got)
	}
}

func TestSearchesHoldTheirLimits(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a/b/c/d/deep.txt": "deep match\n"}
	for i := range 50 {
		files[fmt.Sprintf("f%02d.txt", i)] = "match " + strings.Repeat("é", 1_000) + "\nmatch\n"
	}
	cfg := tools.FilesConfig{Matches: 10, Depth: 3, Entries: 40, Listed: 7, LineBytes: 900, GrepBytes: 5_000}
	_, by := tree(t, cfg, files)

	got := call(t, t.Context(), by["glob"], map[string]any{"pattern": "**/*.txt"})
	if n := len(got["files"].([]any)); n != 10 || got["more"] != true {
		t.Errorf("glob returns %d files: %v", n, got)
	}
	got = call(t, t.Context(), by["glob"], map[string]any{"pattern": "nothing/**"})
	want(t, "a folder that is not there", text(got, "error"), "no such file")
	got = call(t, t.Context(), by["glob"], map[string]any{"pattern": "**/nothing"})
	want(t, "the walk", text(got, "note"), "stopped after 40 entries")
	got = call(t, t.Context(), by["glob"], map[string]any{"pattern": "**", "path": "a"})
	want(t, "depth", text(got, "note"), "folders more than 3 deep are left out")

	got = call(t, t.Context(), by["grep"], map[string]any{"pattern": "match"})
	if n := number(got, "count"); n > 10 || got["more"] != true || len(text(got, "matches")) > 10*500 {
		t.Errorf("grep returns %d lines: %v", n, got)
	}
	want(t, "long lines", text(got, "note"), "too long and searched only in part")
	want(t, "long lines", text(got, "matches"), "é…\n")

	got = call(t, t.Context(), by["list_dir"], nil)
	if n := len(got["entries"].([]any)); n != 7 || number(got, "next_offset") != 7 {
		t.Errorf("list_dir returns %d entries: %v", n, got)
	}
	want(t, "a large folder", text(got, "note"), "more than 40 entries")
	got = call(t, t.Context(), by["list_dir"], map[string]any{"offset": 38})
	if n := len(got["entries"].([]any)); n != 2 || got["next_offset"] != nil {
		t.Errorf("the rest is %v", got)
	}
	want(t, "behind the end", text(call(t, t.Context(), by["list_dir"], map[string]any{"offset": 40}), "error"), "has 40 entries")
	want(t, "negative", text(call(t, t.Context(), by["list_dir"], map[string]any{"offset": -1}), "error"), "must not be negative")
}

func TestALineIsShownAroundItsMatch(t *testing.T) {
	t.Parallel()
	_, by := tree(t, tools.FilesConfig{}, map[string]string{"min.js": strings.Repeat("é", 100_000) + "NEEDLE" + strings.Repeat("é", 100_000)})
	got := text(call(t, t.Context(), by["grep"], map[string]any{"pattern": "NEEDLE"}), "matches")
	want(t, "the line", got, "éNEEDLEé")
	if len(got) > 500 || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestManyEntriesAreListedInOrder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes 20,000 files")
	}
	dir, by := tree(t, tools.FilesConfig{}, nil)
	for i := range 20_000 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%05d", i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	got := call(t, t.Context(), by["list_dir"], map[string]any{"offset": 19_999})
	if list(t, got, "entries") != `["19999 (0)"]` || number(got, "total") != 20_000 {
		t.Errorf("%v", got)
	}
}

func TestAFolderWithoutPermissionIsSaid(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is forbidden to root")
	}
	dir, by := tree(t, tools.FilesConfig{}, map[string]string{"closed/a": "x\n", "shut": "x\n", "open": "x\n"})
	for _, name := range []string{"closed", "shut"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(dir, name), 0o755) })
	}
	want(t, "read_file", text(call(t, t.Context(), by["read_file"], map[string]any{"path": "shut"}), "error"), "no permission")
	got := call(t, t.Context(), by["grep"], map[string]any{"pattern": "x"})
	want(t, "grep", text(got, "note"), "1 folders cannot be read; 1 files cannot be read")
}
