// Package sessionlock lets one chat at a time use a session of a file, by a lock that the kernel releases when the
// process ends, however it ends.
package sessionlock

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// InUseError is the error of a session that another chat uses.
type InUseError struct {
	Session string
	// PID is the process of the other chat, 0 if it is not known. It is for people only: the lock does not depend on it.
	PID int
}

// Error names the session and the process, and what to do.
func (e *InUseError) Error() string {
	who := "another chat"
	if e.PID > 0 {
		who += fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("session %s is in use by %s: end that one, or talk in another session", e.Session, who)
}

// attempts bounds how often a lock file may be removed by its holder while we wait to take it.
const attempts = 100

// Take locks a session of a file, and returns what gives it back. It does not wait: if somebody has the session, the
// error is an [*InUseError]. The lock is a file next to file, which is removed when it is given back. app and user tell
// sessions of one name apart. It is safe for concurrent use.
func Take(file, app, user, session string) (release func(), err error) {
	path, err := pathOf(file, app, user, session)
	if err != nil {
		return nil, err
	}
	for range attempts {
		lock := flock.New(path, flock.SetPermissions(0o600))
		got, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("session %s cannot be locked by the file %s: make its folder writable, or keep the session file on a disk that has locks: %w", session, path, err)
		}
		if !got {
			return nil, &InUseError{Session: session, PID: holder(path)}
		}
		if !current(lock, path) { // its holder has removed it after we had opened it: somebody else may lock a new one
			_ = lock.Close()
			continue
		}
		// Nobody depends on the number, so it does not matter if it cannot be written.
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
		return sync.OnceFunc(func() {
			_ = os.Remove(path) // while it is locked, so that nobody else's file is removed
			_ = lock.Close()
		}), nil
	}
	return nil, fmt.Errorf("session %s cannot be locked: the file %s is removed again and again", session, path)
}

// pathOf is the lock file of a session. Its name shows the session as far as it can be shown, and a hash tells apart what
// looks alike.
func pathOf(file, app, user, session string) (string, error) {
	// Two names of one file, such as a link, must lead to one lock.
	whole, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("session file %s: %w", file, err)
	}
	real, err := filepath.EvalSymlinks(whole)
	switch {
	case err == nil:
		whole = real
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("session file %s: %w", file, err)
	}
	const longest = 40
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, session)
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q %q %q", app, user, session)))
	return fmt.Sprintf("%s.%s-%s.lock", whole, plain[:min(len(plain), longest)], hex.EncodeToString(sum[:4])), nil
}

// current reports whether path still names the file that is locked.
func current(lock *flock.Flock, path string) bool {
	ours, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// holder is the process that has written its number into a lock file, 0 if there is none.
func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
