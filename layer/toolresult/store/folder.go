package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
)

// Folder is a Store in a folder of its own: one file for each result, in one folder for each session.
// Names are hashes, so no name of an app, a user or a tool becomes a path, and nobody who sees a listing
// learns one. Folders have the mode 0700 and files 0600. Links are not followed.
//
// Results survive a restart, and other processes that use the folder can read them. They are kept until
// [Folder.Drop]. A Folder is safe for concurrent use.
type Folder struct {
	root *os.Root

	mu   sync.Mutex
	max  int64
	used int64
	// writing has a channel for each result that a Put of this process is storing. The Put closes it.
	writing map[string]chan struct{}
}

// defaultFolderQuota bounds a folder: 4 GiB.
const defaultFolderQuota = 4 << 30

const (
	folderMode = 0o700
	fileMode   = 0o600
	// unfinished begins the names of files that are being written.
	unfinished = "tmp-"
)

// NewFolder opens dir, and creates it if there is none. The path must be given: a folder for temporary
// files may be memory, shared with others, or emptied at any time. An existing folder must belong to this
// user alone (mode 0700, not checked on Windows) and must not be a link.
//
// A folder takes at most 4 GiB, or the limit of [Folder.SetMaxBytes], and refuses more with a [*QuotaError].
// This counts what it held when it was opened and what this process has stored since.
func NewFolder(dir string) (*Folder, error) {
	if dir == "" {
		return nil, errors.New("store: no folder is named: give the path of one for tool results only")
	}
	if err := os.MkdirAll(filepath.Dir(dir), folderMode); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := os.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("store: %s is no folder: name a folder, and no link to one", dir)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("store: %s has the mode %#o, so others can use it: run chmod 700, or name another folder", dir, mode)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	f := &Folder{root: root, max: defaultFolderQuota, writing: map[string]chan struct{}{}}
	f.used, err = f.sizeOf(".")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), root.Close())
	}
	return f, nil
}

// SetMaxBytes sets the most bytes that the folder may hold. 0 or less means 4 GiB.
func (f *Folder) SetMaxBytes(n int64) {
	if n <= 0 {
		n = defaultFolderQuota
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.max = n
}

// Close releases the folder. Results that are open stay readable.
func (f *Folder) Close() error { return f.root.Close() }

// Put implements Store. The file appears under its name once all of it is on disk.
func (f *Folder) Put(ctx context.Context, owner Owner, _ string, result Result) error {
	if err := check(ctx, owner, result); err != nil {
		return err
	}
	dir, name := f.names(owner, result.Ref)
	done, err := f.claim(ctx, name)
	if err != nil {
		return fmt.Errorf("store result %s: %w", result.Ref, err)
	}
	defer done()
	if file, _, err := f.open(name); err == nil {
		return file.Close()
	}
	size := int64(len(result.Content))
	if err := f.reserve(size); err != nil {
		return err
	}
	if err := f.write(dir, name, result.Content); err != nil {
		f.release(size)
		return fmt.Errorf("store result %s: %w", result.Ref, err)
	}
	return nil
}

// Open implements Source.
func (f *Folder) Open(_ context.Context, owner Owner, ref string) (io.ReaderAt, int64, error) {
	if !owner.Whole() || !IsRef(ref) {
		return nil, 0, ErrUnknownRef
	}
	_, name := f.names(owner, ref)
	file, size, err := f.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, ErrUnknownRef
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open result %s: %w", ref, err)
	}
	return file, size, nil
}

// Drop deletes all results of a session. Call it when the session is deleted.
func (f *Folder) Drop(owner Owner) error {
	dir, _ := f.names(owner, "")
	size, err := f.sizeOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err = errors.Join(err, f.root.RemoveAll(dir)); err != nil {
		return fmt.Errorf("store: drop the results of a session: %w", err)
	}
	f.release(size)
	return nil
}

// names returns the folder of a session and the path of a result.
func (f *Folder) names(owner Owner, ref string) (dir, name string) {
	dir = hashOf(owner, "")
	return dir, path.Join(dir, hashOf(owner, ref))
}
