// Package agentsmd reads the AGENTS.md files that apply to a working directory, for the section Project of a
// system instruction: see package prompt.
package agentsmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// Loader reads the AGENTS.md files that apply to a working directory, and merges them into one framed text.
// It is a [prompt.Source].
//
// A global file of the user comes first. Then comes the file of each directory from the root of the project
// down to the working directory, so the nearest file is the last. Files below the working directory are not
// read, and nothing in a file includes another file.
//
// Files are read again only after one of them has changed, appeared or gone: its size, modification time,
// mode or identity differs. A Loader may be used by several goroutines at once. Fields are set before the
// first use.
type Loader struct {
	// Global is the path of the user's own AGENTS.md, or of the folder that has it. "~/" at its beginning is
	// the home directory. NewLoader sets it to ~/.adk-code/AGENTS.md. Empty means none. It is no problem if there is
	// no such file.
	Global string
	// FileNames are the names to look for in each directory. The first one that exists is read. If nil, the
	// name is AGENTS.md.
	FileNames []string
	// RootMarkers are names of files or folders in the root of a project. The root is the nearest directory
	// with one of them, from the working directory upward. If there is none, only the file of the working
	// directory is read. If nil, the markers are .git, .hg, go.mod and package.json; if empty but not nil, no
	// root is looked for.
	RootMarkers []string
	// MaxBytes limits the merged text with its frames, in bytes. It is spent on the nearest file first and on
	// the global file last. 0 means 32 KiB, as other agents that read AGENTS.md have it.
	MaxBytes int
	// Trust reports whether the files of a project may be read. Its argument is the root, or the working
	// directory if there is no root, without symbolic links. It is asked in every Load that finds such files,
	// and Load waits for it. So it must be quick, remember its answers, and not call the Loader. If it panics,
	// the project is not trusted.
	//
	// If nil, all projects are trusted. That is right if the person who runs the program has chosen the
	// working directory. A program that works for others, or on clones of foreign repositories, needs a Trust:
	// the authors of these files give instructions to the agent.
	Trust func(root string) bool

	workDir string
	mu      sync.Mutex
	last    *loaded

	beforeOpen, beforeCheck func(path string) // for tests: around the reading of a file
}

var _ prompt.Source = (*Loader)(nil)

// defaultGlobal is where NewLoader looks for the user's own AGENTS.md.
const defaultGlobal = "~/.adk-code/AGENTS.md"

const (
	defaultMaxBytes = 32 << 10
	// maxFileBytes is how much of one file is read, in bytes. A merged text holds a small part of it.
	maxFileBytes = 1 << 20
)

// NewLoader returns a Loader with default settings for a working directory. If workDir is relative or empty,
// it is relative to the current directory at the time of each Load.
func NewLoader(workDir string) *Loader {
	return &Loader{Global: defaultGlobal, workDir: workDir}
}

// LoadResult is what [Loader.Load] has found.
type LoadResult struct {
	// Merged is the text for the model: all files in their frames. It is valid UTF-8, has at most MaxBytes
	// bytes, and is empty if there is no file.
	Merged string
	// NumSources is how many files have text in Merged.
	NumSources int
	// Bytes is the length of Merged.
	Bytes int
	// Truncated reports whether text was left out because of MaxBytes, or because a file has more than 1 MiB.
	// Merged has a line that says so, unless MaxBytes is too small even for that.
	Truncated bool
	// Root is the root of the project, without symbolic links. It is empty if no root was found.
	Root string
	// Sources are all files that were found, in the order of merging, with those that could not be read.
	Sources []FileSource
}

// FileSource is one file that a [Loader] has found.
type FileSource struct {
	// Path is where the file was found.
	Path string
	// Global reports whether this is the user's own file.
	Global bool
	// Bytes is the size of its text in Merged, without the frame. 0 means that none of it is there.
	Bytes int
	// Cut is how many bytes of the text were left out because of MaxBytes, or because the file has more than 1 MiB.
	Cut int
	// SameAs is the path of a nearer file that is the same file, through a link for example. The text is
	// there only.
	SameAs string
	// Err is a [*FileError] if there is anything wrong with the file, even if it was read. [prompt.ErrUntrusted] is
	// in it if Trust has refused the project.
	Err error
}

// Err returns everything that is wrong, joined: the problem of each file, and which files were cut. It
// returns nil if all files are in Merged as they are.
func (r LoadResult) Err() error {
	var problems []error
	for _, s := range r.Sources {
		if s.Err != nil {
			problems = append(problems, s.Err)
		}
		if s.Cut > 0 {
			problems = append(problems, &FileError{Path: s.Path, Reason: fmt.Sprintf("%d of %d bytes are left out: shorten the files that are loaded, or raise MaxBytes", s.Cut, s.Bytes+s.Cut)})
		}
	}
	return errors.Join(problems...)
}

// Text returns the merged text, and as an error what is wrong with single files ([LoadResult.Err]). The text
// is good in spite of that error. It is empty if the working directory cannot be read.
func (l *Loader) Text(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	result, err := l.Load()
	if err != nil {
		return "", err
	}
	return result.Merged, result.Err()
}

// loaded is a result with what it was made from.
type loaded struct {
	from   survey
	result LoadResult
}

// Load finds the files, and reads them if anything has changed since the last call. A file that cannot be
// read has its problem in [LoadResult.Sources], and the others are loaded. The error is about the working
// directory or about the settings.
func (l *Loader) Load() (LoadResult, error) {
	s, err := l.settings()
	if err != nil {
		return LoadResult{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found, err := s.find(l.workDir)
	if err != nil {
		return LoadResult{}, err
	}
	if l.last == nil || !l.last.from.same(found) {
		result := s.load(&found)
		l.last = &loaded{from: found, result: result}
	}
	result := l.last.result
	result.Sources = slices.Clone(result.Sources)
	if l.last.from.unstable {
		l.last = nil // a failure to read may be over the next time
	}
	return result, nil
}
