package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// errEnough ends a walk early, without an error.
var errEnough = errors.New("enough")

// walk visits the regular files below a folder in the order of their paths. It follows no links, so it ends.
type walk struct {
	files *Files
	visit func(name string) error

	left       int // entries that may still be looked at
	full       bool
	deep       bool
	unreadable int
}

func (f *Files) newWalk(visit func(name string) error) *walk {
	return &walk{files: f, visit: visit, left: f.cfg.Entries}
}

// run walks. A folder below that cannot be read is counted; that the first one cannot be read is an error.
func (w *walk) run(ctx context.Context, start string) error {
	entries, err := w.read(ctx, start)
	if err != nil {
		return err
	}
	if err := w.enter(ctx, start, entries, 1); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

func (w *walk) read(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	entries, more, err := w.files.readDir(ctx, dir, w.left)
	w.left -= len(entries)
	w.full = w.full || more
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (w *walk) enter(ctx context.Context, dir string, entries []fs.DirEntry, depth int) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		if e.Type().IsRegular() {
			if err := w.visit(name); err != nil {
				return err
			}
		}
		if !e.IsDir() || slices.Contains(w.files.cfg.Skip, e.Name()) {
			continue
		}
		if depth == w.files.cfg.Depth {
			w.deep = true
			continue
		}
		below, err := w.read(ctx, name)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.unreadable++
			continue
		}
		if err := w.enter(ctx, name, below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// notes says where the walk did not go.
func (w *walk) notes() []string {
	var notes []string
	if w.full {
		notes = append(notes, fmt.Sprintf("stopped after %d entries: start in a folder further down", w.files.cfg.Entries))
	}
	if w.deep {
		notes = append(notes, fmt.Sprintf("folders more than %d deep are left out", w.files.cfg.Depth))
	}
	if w.unreadable > 0 {
		notes = append(notes, fmt.Sprintf("%d folders cannot be read", w.unreadable))
	}
	return notes
}

// relative is the path of a file as seen from the folder where the walk began.
func relative(start, name string) string {
	if start == "." {
		return name
	}
	return strings.TrimPrefix(name, start+"/")
}
