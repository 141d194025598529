//go:build unix

package agentsmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAPipeThatTakesThePlaceOfAFileHangsNothing: the file was a regular one when the Loader looked.
func TestAPipeThatTakesThePlaceOfAFileHangsNothing(t *testing.T) {
	t.Parallel()
	l, top := project(t)
	file := filepath.Join(top, "AGENTS.md")
	l.beforeOpen = func(path string) {
		if path == file {
			must(t, os.Remove(file))
			must(t, syscall.Mkfifo(file, 0o666))
		}
	}
	l.beforeCheck = func(path string) {
		if path == file {
			t.Error("something is read from the pipe")
		}
	}
	r, err := l.Load()
	must(t, err)
	if err := r.Sources[0].Err; err == nil || !strings.Contains(err.Error(), "is a named pipe") || !strings.Contains(r.Merged, "inner") {
		t.Errorf("problem is %v, text is\n%s", err, r.Merged)
	}
}
