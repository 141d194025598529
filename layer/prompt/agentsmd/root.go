package agentsmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// resolveDir returns the full path of a working directory, without links.
func resolveDir(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("prompt loader: the working directory %q has no full path, give one to NewLoader: %w", dir, err)
	}
	resolved, err := filepath.EvalSymlinks(full)
	if err != nil {
		return "", fmt.Errorf("prompt loader: the working directory %q cannot be read, give an existing one to NewLoader: %w", full, err)
	}
	info, err := os.Stat(resolved)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err != nil {
		return "", fmt.Errorf("prompt loader: the working directory %q cannot be read, give an existing one to NewLoader: %w", full, err)
	}
	return resolved, nil
}

// findRoot returns the nearest directory with a marker, from dir upward. If there is none, it returns "".
func (s settings) findRoot(dir string) string {
	for {
		for _, marker := range s.markers {
			if exists(filepath.Join(dir, marker)) {
				return dir
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// upward returns the directories from one up to another above it, both included.
func upward(dir, top string) []string {
	dirs := make([]string, 0, 1+strings.Count(dir[min(len(top), len(dir)):], string(filepath.Separator)))
	for {
		dirs = append(dirs, dir)
		parent := filepath.Dir(dir)
		if dir == top || parent == dir {
			return dirs
		}
		dir = parent
	}
}
