package sessionlock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// Whoever opens the file, and locks it after its holder has removed it, has locked a file that nobody else will find.
func TestALockOfARemovedFileDoesNotCount(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	lock := flock.New(path)
	if got, err := lock.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	defer lock.Close()
	if !current(lock, path) {
		t.Error("a lock that was just taken does not count")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if current(lock, path) {
		t.Error("it counts without a file")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if current(lock, path) {
		t.Error("it counts next to another file of that name")
	}
}
