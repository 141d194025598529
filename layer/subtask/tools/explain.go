package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// maxNeighbors is how many entries of a folder are compared with a name that is not in it.
const maxNeighbors = 2_000

// explain turns an error of the system into one that tells a model what to do.
func (f *Files) explain(ctx context.Context, name string, err error) error {
	quoted := shown(name)
	switch {
	case f.late(ctx):
		return fmt.Errorf("stopped: %w", f.slow)
	case ctx.Err() != nil:
		return fmt.Errorf("stopped: %w", ctx.Err())
	case errors.Is(err, os.ErrClosed):
		return errors.New("the tools are closed: the app has stopped reading files")
	case errors.Is(err, errFolder):
		return fmt.Errorf("%s is a folder; list it with %s", quoted, ListDirName)
	case errors.Is(err, errNotFile):
		return fmt.Errorf("%s is not a regular file but a FIFO, a socket or a device; only files are read", quoted)
	case errors.Is(err, errProc):
		return fmt.Errorf("%s belongs to the system's proc or sys filesystem, which is not read", quoted)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%s leads through too many links, or links in a circle", quoted)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission to read %s", quoted)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("the path %s is too long", quoted)
	}
	// os.Root has no exported error for a link that leaves.
	if link, target := f.badLink(name); link != "" && !errors.Is(err, syscall.ENOTDIR) {
		if strings.Contains(err.Error(), "escapes") {
			return fmt.Errorf("%s is a link to %s: links are followed only inside the root, absolute ones never", shown(link), shown(target))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is a link to %s, and there is no such file", shown(link), shown(target))
		}
	}
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is not a folder, or a part of the path is a file", quoted)
	case errors.Is(err, fs.ErrNotExist):
		return f.missing(ctx, name)
	}
	return fmt.Errorf("%s cannot be read: %v", quoted, reasonOf(err))
}

// reasonOf is an error without the path, which the message has already.
func reasonOf(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// badLink returns the first part of a path that is a link and leads nowhere, and its target.
func (f *Files) badLink(name string) (link, target string) {
	parts := strings.Split(name, "/")
	for i := range parts {
		part := filepath.FromSlash(path.Join(parts[:i+1]...))
		info, err := f.root.Lstat(part)
		if err != nil {
			return "", ""
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if _, err := f.root.Stat(part); err == nil {
				continue
			}
			target, err := f.root.Readlink(part)
			if err != nil {
				return "", ""
			}
			return filepath.ToSlash(part), target
		}
	}
	return "", ""
}

// missing says what is nearest to a path that does not exist.
func (f *Files) missing(ctx context.Context, name string) error {
	dir, base := ".", name
	for part := range strings.SplitSeq(name, "/") {
		base = part
		below := path.Join(dir, part)
		if info, err := f.root.Stat(filepath.FromSlash(below)); err != nil || !info.IsDir() {
			break
		}
		dir = below
	}
	text := fmt.Sprintf("no such file: %s", shown(name))
	if missing := path.Join(dir, base); missing != name {
		text = fmt.Sprintf("no such file: %s; there is no folder %s", shown(name), shown(missing))
	}
	entries, _, err := f.readDir(ctx, dir, maxNeighbors)
	if err != nil {
		return errors.New(text)
	}
	if near := nearest(base, entries); len(near) > 0 {
		for i, n := range near {
			near[i] = shown(path.Join(dir, n))
		}
		return fmt.Errorf("%s; nearest: %s", text, strings.Join(near, ", "))
	}
	return fmt.Errorf("%s; list %s with %s, or find it with %s", text, shown(dir), ListDirName, GlobName)
}

// nearest returns up to three names that one may have meant, the nearest first.
func nearest(name string, entries []fs.DirEntry) []string {
	const shown = 3
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	lower, letters := strings.ToLower(name), utf8.RuneCountInString(name)
	most := max(letters/3, min(2, letters-1)) // two letters that changed places are a distance of 2
	for _, e := range entries {
		other := strings.ToLower(e.Name())
		distance := levenshtein.ComputeDistance(lower, other)
		if stem(lower) == stem(other) {
			distance = min(distance, 1)
		}
		if distance <= most {
			found = append(found, candidate{e.Name(), distance})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range found[:min(len(found), shown)] {
		names = append(names, c.name)
	}
	return names
}

// stem is a name without its ending.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
