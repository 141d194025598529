//go:build unix

package tools_test

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/adk-go-ext/longsession/layer/subtask/tools"
)

const secret = "the secret outside"

// badTree is a root with everything in it that a path may lead to, next to a folder that must not be read.
func badTree(t *testing.T) (root, outside string) {
	t.Helper()
	top := t.TempDir()
	root, outside = filepath.Join(top, "root"), filepath.Join(top, "outside")
	write(t, filepath.Join(outside, "secret.txt"), secret)
	write(t, filepath.Join(root, "README.md"), "inside\n")
	write(t, filepath.Join(root, "src/main.go"), "package main\n")
	for link, target := range map[string]string{
		"out":        "../outside",
		"out-file":   "../outside/secret.txt",
		"out-abs":    outside,
		"abs-inside": filepath.Join(root, "README.md"),
		"loop-a":     "loop-b",
		"loop-b":     "loop-a",
		"self":       "self",
		"dangling":   "gone.txt",
		"up":         "..",
		"good":       "src/main.go",
		"to-fifo":    "fifo",
		"src/back":   "../../outside/secret.txt",
		"source":     "src",
		"deep":       "src/../../outside/secret.txt",
		"device":     "/dev/zero",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(root, "sock"))
	if err != nil {
		t.Skipf("no Unix sockets here: %v", err)
	}
	t.Cleanup(func() { socket.Close() })
	return root, outside
}

// TestNoPathLeavesTheRootOrBlocks has one row for each kind of path that must not be read.
func TestNoPathLeavesTheRootOrBlocks(t *testing.T) {
	t.Parallel()
	root, outside := badTree(t)
	set, err := tools.NewFiles(tools.FilesConfig{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	const links = "links are followed only inside the root, absolute ones never"
	for _, tt := range []struct{ path, want string }{
		{"", "path is missing"},
		{"..", "leads out of the root"},
		{"../outside/secret.txt", "leads out of the root"},
		{"src/../../outside/secret.txt", "leads out of the root"},
		{"./.././outside/secret.txt", "leads out of the root"},
		{"/etc/passwd", "outside of the root"},
		{"//etc//passwd", "outside of the root"},
		{outside + "/secret.txt", "outside of the root"},
		{root + "/../outside/secret.txt", "outside of the root"},
		{root + "-other/x", "outside of the root"},
		{"/proc/self/environ", "outside of the root"},
		{"~/.ssh/id_rsa", "no such file"},
		{"file:///etc/passwd", "no such file"},
		{`..\outside\secret.txt`, "no such file"},
		{"%2e%2e/outside/secret.txt", "no such file"},
		{"a\x00b", "NUL character"},
		{strings.Repeat("x", 5_000), "too long"},
		{strings.Repeat("x/", 2_000), "no such file"},
		{strings.Repeat("x", 300), "too long"},
		{"out/secret.txt", links},
		{"out-file", links},
		{"out-abs/secret.txt", links},
		{"abs-inside", links},
		{"src/back", links},
		{"deep", links},
		{"up/outside/secret.txt", links},
		{"device", links},
		{"loop-a", "too many links, or links in a circle"},
		{"self", "too many links, or links in a circle"},
		{"dangling", `a link to "gone.txt", and there is no such file`},
		{"source/main.rs", `no such file: "source/main.rs"; nearest: "source/main.go"`},
		{"source/back", `"source/back" is a link to "../../outside/secret.txt": ` + links},
		{"fifo", "not a regular file"},
		{"to-fifo", "not a regular file"},
		{"sock", "not a regular file"},
		{"src", "is a folder; list it with list_dir"},
		{".", "is a folder"},
		{"README.md/x", "a part of the path is a file"},
		{"readme.md", `nearest: "README.md"`},
		{"READNE.md", `nearest: "README.md"`},
		{"src/main.rs", `nearest: "src/main.go"`},
		{"scr/main.go", `there is no folder "scr"; nearest: "sock", "src"`},
	} {
		for _, tl := range set.Tools() {
			args := map[string]any{"path": tt.path}
			switch tl.Name() {
			case tools.GlobName:
				args["pattern"] = "*"
			case tools.GrepName:
				args["pattern"] = "."
			}
			got := list(t, map[string]any{"r": call(t, t.Context(), tl, args)}, "r")
			if strings.Contains(got, secret) || strings.Contains(got, "secret.txt (") {
				t.Errorf("%s(%q) reads outside of the root: %s", tl.Name(), tt.path, got)
			}
		}
		want(t, "read_file of "+tt.path, text(call(t, t.Context(), set.Tools()[0], map[string]any{"path": tt.path}), "error"), tt.want)
	}
}

// Paths put together from anything that means something in a path never lead out.
func TestNoMixtureOfPartsLeavesTheRoot(t *testing.T) {
	t.Parallel()
	root, outside := badTree(t)
	set, err := tools.NewFiles(tools.FilesConfig{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	parts := []string{"..", ".", "", "src", "out", "out-abs", "up", "back", "deep", "good", "outside", "secret.txt", "root", "README.md", root, outside, "~", "\\", "..\\", "%2e%2e", "*", "**", "{..,src}"}
	random := rand.New(rand.NewPCG(1, 2))
	inside := 0
	for range 400 {
		var path []string
		for range 1 + random.IntN(6) {
			path = append(path, parts[random.IntN(len(parts))])
		}
		name := strings.Join(path, "/")
		for _, tl := range set.Tools() {
			got := list(t, map[string]any{"r": call(t, t.Context(), tl, map[string]map[string]any{
				tools.ReadFileName: {"path": name}, tools.ListDirName: {"path": name},
				tools.GlobName: {"pattern": name}, tools.GrepName: {"path": name, "pattern": "."},
			}[tl.Name()])}, "r")
			if strings.Contains(got, secret) || strings.Contains(got, "secret.txt (") || strings.Contains(got, `"files":["..`) {
				t.Fatalf("%s(%q) leads outside of the root: %s", tl.Name(), name, got)
			}
			if !strings.Contains(got, `"error"`) {
				inside++
			}
		}
	}
	if inside < 20 {
		t.Errorf("only %d paths were inside of the root", inside)
	}
}

// Walks do not follow links at all, and lists show them without following.
func TestSearchesFollowNoLink(t *testing.T) {
	t.Parallel()
	root, _ := badTree(t)
	set, err := tools.NewFiles(tools.FilesConfig{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	read, dir, glob, grep := set.Tools()[0], set.Tools()[1], set.Tools()[2], set.Tools()[3]

	if got := list(t, call(t, t.Context(), glob, map[string]any{"pattern": "**"}), "files"); got != `["README.md","src/main.go"]` {
		t.Errorf("glob finds %s", got)
	}
	if got := call(t, t.Context(), grep, map[string]any{"pattern": "."}); text(got, "matches") != "README.md:1:inside\nsrc/main.go:1:package main\n" {
		t.Errorf("grep finds %v", got)
	}
	entries := list(t, call(t, t.Context(), dir, nil), "entries")
	for _, part := range []string{`"README.md (7)"`, `"src/"`, `"out -\u003e ../outside"`, `"fifo (not a file)"`, `"sock (not a file)"`} {
		want(t, "list_dir", entries, part)
	}
	// What is inside may be reached by any of its names.
	for _, name := range []string{"good", "src/main.go", "./src//main.go", "src/../src/main.go", filepath.Join(root, "src/main.go")} {
		if got := text(call(t, t.Context(), read, map[string]any{"path": name}), "content"); got != "1\tpackage main\n" {
			t.Errorf("read_file(%q) is %q", name, got)
		}
	}
}

// The root may be a link, and absolute paths under both of its names are inside.
func TestTheRootItselfMayBeALink(t *testing.T) {
	t.Parallel()
	root, _ := badTree(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewFiles(tools.FilesConfig{Root: link})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for _, base := range []string{root, link} {
		if got := text(call(t, t.Context(), set.Tools()[0], map[string]any{"path": base + "/README.md"}), "content"); got != "1\tinside\n" {
			t.Errorf("under %s: %q", base, got)
		}
	}
}

func TestFilesOfTheProcFilesystemAreNotRead(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil || runtime.GOOS != "linux" {
		t.Skip("no proc filesystem")
	}
	set, err := tools.NewFiles(tools.FilesConfig{Root: "/proc/self"})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for _, name := range []string{"environ", "status", "mem"} {
		want(t, name, text(call(t, t.Context(), set.Tools()[0], map[string]any{"path": name}), "error"), "proc or sys filesystem")
	}
}

func TestClosedAndStoppedToolsSaySo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x\n")
	set, err := tools.NewFiles(tools.FilesConfig{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	args := map[string]any{"path": ".", "pattern": "a*"}
	for _, tl := range set.Tools() {
		if tl.Name() == tools.ReadFileName {
			continue
		}
		a := map[string]any{"path": "."}
		if tl.Name() != tools.ListDirName {
			a = args
		}
		want(t, tl.Name()+" stopped", text(call(t, stopped, tl, a), "error"), "stopped: context canceled")
	}
	want(t, "read_file stopped", text(call(t, stopped, set.Tools()[0], map[string]any{"path": "a"}), "error"), "stopped: context canceled")
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "read_file closed", text(call(t, t.Context(), set.Tools()[0], map[string]any{"path": "a"}), "error"), "the tools are closed")
	want(t, "glob closed", text(call(t, t.Context(), set.Tools()[2], args), "error"), "the tools are closed")
}
