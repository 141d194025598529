//go:build unix

package agentsmd_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyRegularFilesAreOpened: to open a pipe would wait for a writer forever.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	top := tree(t, map[string]string{".git/": "", "pipe/": "", "pipe/dir/AGENTS.md/": "", "pipe/dir/s/": "", "pipe/dir/s/l/": "", "pipe/dir/s/l/here/AGENTS.md": "here"})
	pipe, dir, socket, link := filepath.Join(top, "pipe/AGENTS.md"), filepath.Join(top, "pipe/dir/AGENTS.md"), filepath.Join(top, "pipe/dir/s/AGENTS.md"), filepath.Join(top, "pipe/dir/s/l/AGENTS.md")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	t.Chdir(filepath.Dir(socket)) // the path of a socket has a limit
	listener, err := net.Listen("unix", "AGENTS.md")
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	defer func() { _ = listener.Close() }()
	symlink(t, pipe, link)
	r := load(t, loader(filepath.Join(top, "pipe/dir/s/l/here")))
	wantFrames(t, r, "pipe/dir/s/l/here/AGENTS.md: here")
	for path, kind := range map[string]string{pipe: "is a named pipe", dir: "is a directory", socket: "is a socket", link: "is a named pipe"} {
		wantProblem(t, r, path, kind, "only regular files are read")
	}
}

func TestADeviceIsNotOpened(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero here")
	}
	l := loader("/dev")
	l.FileNames, l.RootMarkers = []string{"zero"}, []string{}
	r := load(t, l)
	wantProblem(t, r, "/dev/zero", "is a device")
}

// TestAHugeFileIsNotReadAsAWhole: the file has 1 GB without taking any room on the disk.
func TestAHugeFileIsNotReadAsAWhole(t *testing.T) {
	const size = 1 << 30
	top := tree(t, map[string]string{".git/": "", "AGENTS.md": "", "a/AGENTS.md": strings.Repeat("0123456789\n", 1<<17), "a/b/AGENTS.md": "here"})
	for _, name := range []string{"AGENTS.md", "a/AGENTS.md"} {
		if err := os.Truncate(filepath.Join(top, name), size); err != nil {
			t.Skipf("no large files here: %v", err)
		}
	}
	l := loader(filepath.Join(top, "a", "b"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := load(t, l)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 24<<20 {
		t.Errorf("%d bytes are allocated for files of 1 GB", allocated)
	}
	wantProblem(t, r, filepath.Join(top, "AGENTS.md"), "is binary", "zero byte")
	wantProblem(t, r, filepath.Join(top, "a/AGENTS.md"), "1073741824 bytes", "shorten it")
	if s := r.Sources[1]; s.Bytes < 30000 || s.Bytes+s.Cut != size || !r.Truncated || r.NumSources != 2 {
		t.Errorf("sources are %+v", r.Sources)
	}
}
