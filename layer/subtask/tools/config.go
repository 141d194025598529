package tools

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// FilesConfig says which folder the tools read, and how much of it at once. Only Root is required. No limit
// can be turned off: the result of a tool is part of a prompt.
type FilesConfig struct {
	// Root is the folder that the tools read. Links in this path itself are followed, once, by NewFiles.
	Root string
	// ReadLines is how many lines read_file returns if the call names no limit, and at most. 0 means 2,000.
	ReadLines int
	// ResultBytes bounds the text of one result of any tool. 0 means 64 KiB.
	ResultBytes int
	// LineBytes is how much of one line is read and searched; the rest of the line is skipped. 0 means 1 MiB.
	LineBytes int
	// FileBytes is how much of one file is read at most, by read_file on its way to a line and by grep.
	// 0 means 64 MiB.
	FileBytes int64
	// GrepBytes is how much one call of grep reads of all files together. 0 means 1 GiB.
	GrepBytes int64
	// Matches is how many matches grep, and how many files glob, returns at most. 0 means 200.
	Matches int
	// Listed is how many entries list_dir returns at once. 0 means 500.
	Listed int
	// Depth is how many folders deep glob and grep go. 0 means 32.
	Depth int
	// Entries is how many entries of folders one call looks at. 0 means 200,000.
	Entries int
	// Timeout bounds one call. What glob and grep have found by then is returned. 0 means 30 s, in which a search
	// without a fixed beginning, such as (?i)error|timeout, reads some hundred MiB.
	Timeout time.Duration
	// Skip names folders that glob and grep do not enter unless a call starts in one. If nil, they are
	// those of version control, packages and caches: .git, .hg, .svn, node_modules, .venv,
	// __pycache__ and a few more. An empty list skips none.
	Skip []string
}

// skipped are folders whose files are rarely what a search is for.
var skipped = []string{".git", ".hg", ".svn", ".jj", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".tox", ".gradle", ".idea", ".terraform"}

// The defaults of [FilesConfig].
const (
	defaultReadLines   = 2_000
	defaultResultBytes = 64 << 10
	defaultLineBytes   = 1 << 20
	defaultFileBytes   = 64 << 20
	defaultGrepBytes   = 1 << 30
	defaultMatches     = 200
	defaultListed      = 500
	defaultDepth       = 32
	defaultEntries     = 200_000
	defaultFilesTime   = 30 * time.Second
)

// leastResultBytes is room for a sentence and a line.
const leastResultBytes = 1 << 10

// ConfigError is one refused value: Field names it as [FilesConfig] or [FetchConfig] does, Value is as it was
// given, and Reason says what is wrong with it, and what to do. Several are joined: errors.As finds the first. All
// packages of this module have the same type.
type ConfigError = configerr.Error

// number is one limit of a config.
type number struct {
	field string
	value int64
	or    int64 // if value is 0
	least int64
}

func (n number) check(p *configerr.Problems) {
	switch {
	case n.value < 0:
		p.Refuse(n.field, n.value, "it must not be negative; 0 is %d", n.or)
	case n.value > 0 && n.value < n.least:
		p.Refuse(n.field, n.value, "it must be at least %d; 0 is %d", n.least, n.or)
	}
}

// withDefaults returns a checked copy.
func (c FilesConfig) withDefaults() (FilesConfig, error) {
	var p configerr.Problems
	switch info, err := os.Stat(c.Root); {
	case c.Root == "":
		p.Refuse("Root", c.Root, "name the folder that the tools may read")
	case err != nil:
		p.Refuse("Root", c.Root, "it cannot be read: %v", reasonOf(err))
	case !info.IsDir():
		p.Refuse("Root", c.Root, "it is not a folder")
	}
	for _, n := range []number{
		{"ReadLines", int64(c.ReadLines), defaultReadLines, 1},
		{"ResultBytes", int64(c.ResultBytes), defaultResultBytes, leastResultBytes},
		{"LineBytes", int64(c.LineBytes), defaultLineBytes, 1},
		{"FileBytes", c.FileBytes, defaultFileBytes, 1},
		{"GrepBytes", c.GrepBytes, defaultGrepBytes, 1},
		{"Matches", int64(c.Matches), defaultMatches, 1},
		{"Listed", int64(c.Listed), defaultListed, 1},
		{"Depth", int64(c.Depth), defaultDepth, 1},
		{"Entries", int64(c.Entries), defaultEntries, 1},
	} {
		n.check(&p)
	}
	if c.Timeout < 0 {
		p.Refuse("Timeout", c.Timeout, "it must not be negative; 0 is %v", defaultFilesTime)
	}
	for _, name := range c.Skip {
		if name == "" || strings.ContainsAny(name, `/\`) {
			p.Refuse("Skip", name, "use the name of a folder, without its path")
		}
	}
	if err := p.Join("tools config"); err != nil {
		return c, err
	}
	c.ReadLines = cmp.Or(c.ReadLines, defaultReadLines)
	c.ResultBytes = cmp.Or(c.ResultBytes, defaultResultBytes)
	c.LineBytes = cmp.Or(c.LineBytes, defaultLineBytes)
	c.FileBytes = cmp.Or(c.FileBytes, defaultFileBytes)
	c.GrepBytes = cmp.Or(c.GrepBytes, defaultGrepBytes)
	c.Matches = cmp.Or(c.Matches, defaultMatches)
	c.Listed = cmp.Or(c.Listed, defaultListed)
	c.Depth = cmp.Or(c.Depth, defaultDepth)
	c.Entries = cmp.Or(c.Entries, defaultEntries)
	c.Timeout = cmp.Or(c.Timeout, defaultFilesTime)
	if c.Skip == nil {
		c.Skip = skipped
	}
	c.Skip = slices.Clone(c.Skip)
	root, err := filepath.Abs(c.Root)
	if err != nil {
		return c, fmt.Errorf("tools config: %w", err)
	}
	c.Root = root
	return c, nil
}
