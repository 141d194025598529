package tools

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPath is the longest path that Linux accepts, in bytes. Others accept less.
const maxPath = 4_095

// resolve turns a path as a model writes it into one relative to the root, with slashes. Absolute paths inside
// the root are accepted: models copy them from error messages and stack traces. It looks at the text only;
// os.Root keeps links from leaving the root.
func (f *Files) resolve(name string) (string, error) {
	switch {
	case strings.ContainsRune(name, 0):
		return "", fmt.Errorf("the path %s contains a NUL character", shown(name))
	case len(name) > maxPath:
		return "", fmt.Errorf("the path %s is too long: it has %d bytes, and %d are allowed", shown(name), len(name), maxPath)
	}
	if name == "" {
		return ".", nil
	}
	slashed := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		rel, inside := f.within(name)
		if !inside {
			return "", fmt.Errorf("%s is outside of the root; use a path relative to the root, such as \"docs/readme.md\"", shown(name))
		}
		slashed = rel
	}
	clean := path.Clean(slashed)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%s leads out of the root; paths are relative to the root, which is \".\"", shown(name))
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", fmt.Errorf("%s is not a path inside the root; use one relative to the root, such as \"docs/readme.md\"", shown(name))
	}
	return clean, nil
}

// within returns an absolute path relative to the root, under either of its names.
func (f *Files) within(name string) (string, bool) {
	for _, root := range []string{f.cfg.Root, f.real} {
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// file is resolve for a tool that needs the name of a file.
func (f *Files) file(name string) (string, error) {
	if name == "" {
		return "", errors.New("path is missing: name a file, relative to the root")
	}
	return f.resolve(name)
}

// shown quotes a name for a message.
func shown(name string) string {
	const most = 200
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strconv.Quote(name)
}

// inLine writes a name into a line of text: as it is, unless it would be taken for something else.
func inLine(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
