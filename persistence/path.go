package persistence

import (
	"errors"
	"fmt"
	"strings"
)

// checkPath refuses paths that are surely a mistake. A URI is refused because a file with its
// literal name would hide that the parameters have no effect.
func checkPath(path string) error {
	bare, isURI := strings.CutPrefix(path, "file:")
	name, query, _ := strings.Cut(strings.TrimPrefix(bare, "//"), "?")
	switch {
	case path == "":
		return errors.New("persistence: empty path: name a file, or \":memory:\"")
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("persistence: path %q has a NUL character, which no file name can have", path)
	case isURI && (name == memory || strings.Contains(query, "mode=memory")):
		return fmt.Errorf("persistence: path %q: URIs are not supported: for a database in memory, the path is %q", path, memory)
	case isURI:
		return fmt.Errorf("persistence: path %q: URIs and their parameters are not supported: pass the path alone, %q%s (a file with exactly this name is %q)", path, name, optionsFor(query), "./"+path)
	}
	return nil
}

// optionsFor names the options that have the effect of the parameters.
func optionsFor(query string) string {
	query = strings.ToLower(query)
	var options []string
	for _, o := range []struct{ parameter, option string }{
		{"mode=ro", "WithReadOnly"}, {"immutable=1", "WithReadOnly"}, {"busy_timeout", "WithBusyTimeout"}, {"normal", "WithSynchronousNormal"},
	} {
		if strings.Contains(query, o.parameter) {
			options = append(options, o.option)
		}
	}
	switch {
	case len(options) > 0:
		return ", with the option " + strings.Join(options, " and ")
	case query != "":
		return "; WithDB accepts a database that was opened with any parameters"
	}
	return ""
}
