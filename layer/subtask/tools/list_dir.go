package tools

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
)

const listDirDescription = "Lists a folder: folders end with a slash, files have their size in bytes, links their target. " +
	"Does not enter folders; find files below with glob."

type listDirArgs struct {
	Path   string `json:"path,omitempty" jsonschema:"the folder, relative to the root; left out for the root"`
	Offset int    `json:"offset,omitempty" jsonschema:"how many entries to skip"`
}

type listDirResult struct {
	failure
	Path       string   `json:"path,omitempty"`
	Entries    []string `json:"entries,omitempty"`
	Total      int      `json:"total,omitempty" jsonschema:"how many entries the folder has"`
	NextOffset int      `json:"next_offset,omitempty" jsonschema:"only if there are more entries"`
	Note       string   `json:"note,omitempty"`
}

// listDir is the tool list_dir.
func (f *Files) listDir(ctx context.Context, args listDirArgs) (listDirResult, error) {
	name, err := f.resolve(args.Path)
	if err != nil {
		return listDirResult{}, err
	}
	entries, more, err := f.readDir(ctx, name, f.cfg.Entries)
	if err != nil {
		return listDirResult{}, f.explain(ctx, name, err)
	}
	result := listDirResult{Path: name, Total: len(entries)}
	switch {
	case args.Offset < 0:
		return listDirResult{}, fmt.Errorf("offset is %d: it must not be negative", args.Offset)
	case len(entries) == 0:
		result.Note = "the folder is empty"
		return result, nil
	case args.Offset >= len(entries):
		return listDirResult{}, fmt.Errorf("%s has %d entries; offset %d is behind the last one", shown(name), len(entries), args.Offset)
	}
	if more {
		result.Note = fmt.Sprintf("the folder has more than %d entries, and the others are not counted; find files by name with %s", len(entries), GlobName)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	size := 0
	for _, e := range entries[args.Offset:] {
		if err := ctx.Err(); err != nil {
			return listDirResult{}, f.explain(ctx, name, err)
		}
		text := f.entry(name, e)
		if size += len(text); len(result.Entries) == f.cfg.Listed || size > f.cfg.ResultBytes {
			result.NextOffset = args.Offset + len(result.Entries)
			break
		}
		result.Entries = append(result.Entries, text)
	}
	return result, nil
}

// entry describes one entry of a folder. Sizes and targets are read through the root: the path of an entry
// may have become a link since.
func (f *Files) entry(dir string, e fs.DirEntry) string {
	name, local := inLine(e.Name()), filepath.FromSlash(path.Join(dir, e.Name()))
	switch kind := e.Type(); {
	case kind.IsDir():
		return name + "/"
	case kind&fs.ModeSymlink != 0:
		target, err := f.root.Readlink(local)
		if err != nil {
			return name + " (link)"
		}
		return name + " -> " + inLine(target)
	case !kind.IsRegular():
		return name + " (not a file)"
	}
	info, err := f.root.Lstat(local)
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s (%d)", name, info.Size())
}
