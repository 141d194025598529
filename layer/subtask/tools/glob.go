package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const globDescription = "Finds files by a pattern of their path, such as **/*.go or cmd/*/main.{go,rs}: " +
	"* is a part of a name, ** any folders. Returns paths, sorted."

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"the pattern, relative to path"`
	Path    string `json:"path,omitempty" jsonschema:"the folder to start in; left out for the root"`
}

type globResult struct {
	failure
	Files []string `json:"files,omitempty"`
	More  bool     `json:"more,omitempty" jsonschema:"there are more files than are shown"`
	Note  string   `json:"note,omitempty"`
}

// glob is the tool glob.
func (f *Files) glob(ctx context.Context, args globArgs) (globResult, error) {
	start, pattern, err := f.pattern(args.Path, args.Pattern)
	if err != nil {
		return globResult{}, err
	}
	var result globResult
	size := 0
	w := f.newWalk(func(name string) error {
		if !doublestar.MatchUnvalidated(pattern, relative(start, name)) {
			return nil
		}
		if size += len(name); len(result.Files) == f.cfg.Matches || size > f.cfg.ResultBytes {
			result.More = true
			return errEnough
		}
		result.Files = append(result.Files, name)
		return nil
	})
	err = w.run(ctx, start)
	late := err != nil && f.late(ctx)
	if err != nil && !late {
		return globResult{}, f.explain(ctx, start, err)
	}
	result.More = result.More || late
	notes := w.notes()
	switch {
	case late:
		notes = append(notes, fmt.Sprintf("stopped after %v: start in a folder further down", f.cfg.Timeout))
	case result.More:
		notes = append(notes, fmt.Sprintf("only the first %d files are shown: use a narrower pattern or another path", len(result.Files)))
	case len(result.Files) == 0 && !strings.Contains(pattern, "/"):
		notes = append(notes, fmt.Sprintf("no file matches; this pattern looks into one folder only, **/%s looks into all", pattern))
	case len(result.Files) == 0:
		notes = append(notes, "no file matches")
	}
	result.Note = strings.Join(notes, "; ")
	return result, nil
}

// pattern returns the folder in which a search begins, and the rest of the pattern as seen from there.
func (f *Files) pattern(dir, pattern string) (start, rest string, err error) {
	if err := checkPattern(pattern); err != nil {
		return "", "", err
	}
	base, rest := doublestar.SplitPattern(filepath.ToSlash(pattern))
	if slices.Contains(strings.Split(rest, "/"), "..") {
		return "", "", fmt.Errorf("the pattern %s has .. behind a wildcard; write the folder without it", shown(pattern))
	}
	if !filepath.IsAbs(base) {
		if dir, err = f.resolve(dir); err != nil {
			return "", "", err
		}
		base = dir + "/" + base // not path.Join: resolve has to see a base that leads out of dir
	}
	start, err = f.resolve(base)
	return start, rest, err
}

// Patterns beyond these bounds could keep the matcher busy for years.
const (
	maxPattern      = 1_000 // bytes
	maxStars        = 6     // of **
	maxAlternatives = 200   // that {a,b}{c,d} stands for
)

func checkPattern(pattern string) error {
	alternatives := alternativesOf(filepath.ToSlash(pattern))
	switch {
	case pattern == "":
		return errors.New("pattern is missing; **/* finds all files")
	case len(pattern) > maxPattern:
		return fmt.Errorf("the pattern has %d bytes, and %d are allowed", len(pattern), maxPattern)
	case !doublestar.ValidatePattern(filepath.ToSlash(pattern)):
		return fmt.Errorf("the pattern %s is not valid: a [ or { is not closed, or a \\ is at its end", shown(pattern))
	case strings.Count(pattern, "**") > maxStars || alternatives > maxAlternatives:
		return fmt.Errorf("the pattern has too many ** or alternatives in braces; %d and %d are allowed", maxStars, maxAlternatives)
	}
	return nil
}

// alternativesOf counts the alternatives that a pattern stands for, in braces within braces, too. It counts rather
// too many than too few, and no more than are needed to refuse the pattern.
func alternativesOf(pattern string) int {
	all, open := 1, []int(nil) // open are the alternatives of the braces around a byte
	for i := 0; i < len(pattern); i++ {
		switch last := len(open) - 1; {
		case pattern[i] == '\\':
			i++
		case pattern[i] == '{':
			open = append(open, 1)
		case pattern[i] == ',' && last >= 0:
			open[last]++
		case pattern[i] == '}' && last >= 0:
			all = min(all*open[last], maxAlternatives+1)
			open = open[:last]
		}
	}
	return all
}

// selects returns whether a filter of grep takes a file: by its name, or by its path if the filter has a slash.
func selects(filter, start, name string) bool {
	switch {
	case filter == "":
		return true
	case strings.Contains(filter, "/"):
		return doublestar.MatchUnvalidated(strings.TrimPrefix(filter, "./"), relative(start, name))
	}
	return doublestar.MatchUnvalidated(filter, path.Base(name))
}
