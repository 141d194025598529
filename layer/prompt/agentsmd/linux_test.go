package agentsmd_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

// TestAFileWithoutPermissionIsReported: root may read everything, so the test lays that right down for its
// thread.
func TestAFileWithoutPermissionIsReported(t *testing.T) {
	top := tree(t, map[string]string{".git/": "", "AGENTS.md": "secret", "a/AGENTS.md": "here"})
	file := filepath.Join(top, "AGENTS.md")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(top); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := loader(filepath.Join(top, "a"))
	var r agentsmd.LoadResult
	asNobody(t, func() { r = load(t, l) })
	wantFrames(t, r, "a/AGENTS.md: here")
	wantProblem(t, r, file, "cannot be read", "permission")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() { r = load(t, l) })
	wantFrames(t, r, "AGENTS.md: secret", "a/AGENTS.md: here")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() { r = load(t, l) })
	wantFrames(t, r, "a/AGENTS.md: here")
	if err := os.Chmod(top, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	asNobody(t, func() { _, err = l.Load() })
	if err == nil {
		t.Error("a working directory that cannot be entered is no error")
	}
}

// asNobody calls f with the rights of nobody to files, if this is root.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setfsuid(0); err != nil {
			panic(err)
		}
	}()
	f()
}
