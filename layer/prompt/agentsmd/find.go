package agentsmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// survey is what is known of the files before any of them is read. It decides whether they are read again.
type survey struct {
	root     string
	files    []found // in the order of merging: the global file, then from the root down
	unstable bool    // a file could not be read, which its size and time do not show
}

// found is a file that exists.
type found struct {
	path   string // where it was found
	label  string // how the model sees the path: relative to the root or to the folder of the global file
	folder string // its resolved path must be in there
	name   string // its resolved path in the folder
	global bool
	info   fs.FileInfo // of the resolved file; nil if there is a problem
	sameAs string
	err    *FileError // why it must not be read
}

// same reports whether two surveys found the same files, unchanged.
func (s survey) same(other survey) bool {
	return s.root == other.root && slices.EqualFunc(s.files, other.files, found.same)
}

func (f found) same(other found) bool {
	if f.path != other.path || f.folder != other.folder || f.name != other.name || f.global != other.global {
		return false
	}
	if f.err != nil || other.err != nil {
		return f.err != nil && other.err != nil && f.err.Reason == other.err.Reason
	}
	return unchanged(f.info, other.info)
}

// unchanged reports whether a file is still the same file, with the same content as far as can be seen
// without reading it.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// find looks for all files that apply to a working directory.
func (s settings) find(workDir string) (survey, error) {
	dir, err := resolveDir(workDir)
	if err != nil {
		return survey{}, err
	}
	var out survey
	out.files = s.findGlobal()
	globals := len(out.files)
	out.root = s.findRoot(dir)
	top := out.root
	if top == "" {
		top = dir
	}
	for _, d := range upward(dir, top) {
		if f, ok := s.lookIn(d, top); ok {
			out.files = append(out.files, f)
		}
	}
	slices.Reverse(out.files[globals:])
	if len(out.files) > globals && !s.trusts(top) {
		for i := range out.files[globals:] {
			f := &out.files[globals+i]
			f.info, f.err = nil, &FileError{Path: f.path, Reason: "is in " + printable(top) + ", which is not trusted: let Trust answer true to read its files", Err: prompt.ErrUntrusted}
		}
	}
	markSame(out.files)
	return out, nil
}

// trusts asks whether the files of a project may be read.
func (l *Loader) trusts(root string) (trusted bool) {
	if l.Trust == nil {
		return true
	}
	defer survive.Else("prompt: Loader.Trust", func() { trusted = false })
	return l.Trust(root)
}

// findGlobal returns the user's own file, or nothing.
func (s settings) findGlobal() []found {
	if s.Global == "" {
		return nil
	}
	file := s.Global
	fail := func(reason string, err error) []found {
		return []found{{path: file, global: true, err: &FileError{Path: file, Reason: reason, Err: err}}}
	}
	if rest, ok := belowHome(file); ok {
		home, err := os.UserHomeDir()
		switch {
		case err != nil && s.Global == defaultGlobal:
			return nil // a service without a home has no file there
		case err != nil:
			return fail("has no home directory to begin at: set Global to a full path", err)
		}
		file = filepath.Join(home, rest)
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return fail("has no full path: set Global to one", err)
	}
	folder, names := filepath.Dir(file), []string{filepath.Base(file)}
	if info, err := os.Stat(file); err == nil && info.IsDir() && !slices.Contains(s.names, names[0]) {
		folder, names = file, s.names
	}
	resolved, err := filepath.EvalSymlinks(folder)
	if absent(err) {
		return nil
	}
	if err != nil {
		return fail("is in a folder that cannot be read: check its links and permissions", err)
	}
	s.names = names
	f, ok := s.lookIn(resolved, resolved)
	if !ok {
		return nil
	}
	f.global = true
	return []found{f}
}

// belowHome returns the path below the home directory.
func belowHome(file string) (rest string, ok bool) {
	if file == "~" {
		return "", true
	}
	if len(file) > 1 && file[0] == '~' && os.IsPathSeparator(file[1]) {
		return file[2:], true
	}
	return "", false
}

// lookIn returns the file of a directory, if there is one. Both paths have no links.
func (s settings) lookIn(dir, folder string) (found, bool) {
	for _, name := range s.names {
		f := found{path: filepath.Join(dir, name), folder: folder}
		info, err := os.Lstat(f.path)
		if absent(err) {
			continue
		}
		f.name = relative(folder, f.path)
		f.label = filepath.ToSlash(f.name)
		if err != nil {
			f.err = &FileError{Path: f.path, Reason: "cannot be read: check the permissions of the file and its folders", Err: err}
			return f, true
		}
		f.settle(info)
		return f, true
	}
	return found{}, false
}

// settle follows links, and notes what is wrong with the file that they lead to.
func (f *found) settle(info fs.FileInfo) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(f.path)
		if errors.Is(err, fs.ErrPermission) {
			f.err = &FileError{Path: f.path, Reason: "is a link whose target cannot be read: check the permissions of its folders", Err: err}
			return
		}
		if err != nil {
			f.err = &FileError{Path: f.path, Reason: "is a link that leads nowhere or in a circle: mend or remove it", Err: err}
			return
		}
		f.name = relative(f.folder, target)
		if !filepath.IsLocal(f.name) {
			f.err = &FileError{Path: f.path, Reason: "is a link to " + printable(target) + ", which is outside of " + printable(f.folder) + ": replace it by a copy of the file"}
			return
		}
		if info, err = os.Lstat(target); err != nil {
			f.err = &FileError{Path: f.path, Reason: "is a link whose target cannot be read: check the permissions of " + printable(target), Err: err}
			return
		}
	}
	if !info.Mode().IsRegular() {
		f.err = &FileError{Path: f.path, Reason: "is " + kindOf(info.Mode()) + ": only regular files are read; replace it by one, or remove it"}
		return
	}
	f.info = info
}

// relative returns a path in a folder. If there is none, it returns a path that is not local.
func relative(folder, file string) string {
	rel, err := filepath.Rel(folder, file)
	if err != nil { // on another drive
		return ".."
	}
	return rel
}

// kindOf names what is there instead of a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	}
	return "a special file (" + mode.Type().String() + ")"
}

// markSame finds files that are there twice. The nearest one is read.
func markSame(files []found) {
	for i := range files {
		for j := len(files) - 1; j > i && files[i].info != nil; j-- {
			if files[j].info != nil && os.SameFile(files[i].info, files[j].info) {
				files[i].sameAs = files[j].path
				break
			}
		}
	}
}

// absent reports whether an error means that there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
