package agentsmd

import (
	"path/filepath"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// settings are the fields of a Loader with their defaults.
type settings struct {
	*Loader
	names, markers []string
	maxBytes       int
}

var (
	defaultFileNames   = []string{"AGENTS.md"}
	defaultRootMarkers = []string{".git", ".hg", "go.mod", "package.json"}
)

// settings returns the fields with their defaults, or what is wrong with them, joined.
func (l *Loader) settings() (settings, error) {
	s := settings{Loader: l, names: l.FileNames, markers: l.RootMarkers, maxBytes: l.MaxBytes}
	if s.names == nil {
		s.names = defaultFileNames
	}
	if s.markers == nil {
		s.markers = defaultRootMarkers
	}
	if s.maxBytes == 0 {
		s.maxBytes = defaultMaxBytes
	}
	return s, s.check()
}

// check returns the joined problems of the settings.
func (s settings) check() error {
	var p configerr.Problems
	if s.maxBytes < 0 {
		p.Refuse("Loader.MaxBytes", s.maxBytes, "it must not be negative; 0 is 32 KiB")
	}
	if len(s.names) == 0 {
		p.Refuse("Loader.FileNames", s.names, "it is empty; name a file, or leave it nil for AGENTS.md")
	}
	for _, list := range []struct {
		field string
		names []string
	}{{"FileNames", s.names}, {"RootMarkers", s.markers}} {
		for _, name := range list.names {
			if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
				p.Refuse("Loader."+list.field, name, "it must be a plain name, without a folder")
			}
		}
	}
	return p.Join("prompt config")
}
