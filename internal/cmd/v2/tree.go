package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// write writes the files of one working copy into a folder that has none, without asking for any module.
func write(from, to string) error {
	files, err := tracked(from)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w: name a folder that is missing or empty", to, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove it, or name a folder that is missing or empty", to)
	}
	for _, file := range files {
		if onlyV1(file) {
			continue
		}
		if err := writeFile(from, to, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// tracked returns the files that git tracks in a folder, with slashes.
func tracked(folder string) ([]string, error) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = folder
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = errors.New(string(bytes.TrimSpace(exit.Stderr)))
		}
		return nil, fmt.Errorf("git does not list the files of %s, so run this in the root of a clone: %w", folder, err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if _, err := os.Stat(filepath.Join(folder, "go.work")); err != nil {
		return nil, fmt.Errorf("%s is not the root of the library, so run this there: %w", folder, err)
	}
	return files, nil
}

func onlyV1(file string) bool {
	return path.Base(file) == "v1.go" || strings.HasSuffix(file, "_v1.go") || strings.HasSuffix(file, "_v1_test.go")
}

func onlyV2(file string) bool {
	return strings.HasSuffix(file, "_v2.go") || strings.HasSuffix(file, "_v2_test.go")
}

func writeFile(from, to, file string) error {
	source, target := filepath.Join(from, filepath.FromSlash(file)), filepath.Join(to, filepath.FromSlash(file))
	info, err := os.Lstat(source)
	if err != nil {
		return fmt.Errorf("git tracks it, so restore it or remove it with git rm: %w", err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file, and this command copies no other")
	}
	content, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if content, err = converted(file, content); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, content, info.Mode().Perm())
}

// converted returns what a file of the source holds in the tree for ADK v2.
func converted(file string, content []byte) ([]byte, error) {
	name := path.Base(file)
	if name == "go.sum" || name == "go.work.sum" || bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) {
		return content, nil
	}
	text := withNames(withPaths(string(content)))
	switch {
	case name == "go.mod" || name == "go.work":
		return []byte(withVersions(text)), nil
	case path.Ext(name) != ".go":
		return []byte(text), nil
	}
	if onlyV2(file) {
		rest, found := strings.CutPrefix(text, ignored)
		if !found {
			return nil, fmt.Errorf("a file for ADK v2 begins with %q, so that the build for ADK v1 passes it over", strings.TrimSpace(ignored))
		}
		text = rest
	}
	formatted, err := format.Source([]byte(text))
	if err != nil && strings.Contains("/"+file, "/testdata/") {
		return []byte(text), nil // it may be wrong on purpose
	}
	return formatted, err
}

// ignored is how a file for ADK v2 begins.
const ignored = "//go:build ignore\n\n"
