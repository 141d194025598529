package persistence

import (
	"errors"
	"fmt"
	"strings"
)

// checkPath refuses what cannot be meant as the path of a file. To make a file with the literal name of a
// URI would hide that its parameters do nothing.
func checkPath(path string) error {
	bare, isURI := strings.CutPrefix(path, "file:")
	name, query, _ := strings.Cut(strings.TrimPrefix(bare, "//"), "?")
	switch {
	case path == "":
		return errors.New("persistence: empty path: name a file, or \":memory:\"")
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("persistence: path %q has a NUL character: no file can be named so", path)
	case isURI && (name == memory || strings.Contains(query, "mode=memory")):
		return fmt.Errorf("persistence: path %q: URIs are not taken: for a database in memory, the path is %q", path, memory)
	case isURI:
		return fmt.Errorf("persistence: path %q: URIs and their parameters are not taken: give the path alone, %q%s (a file of that very name is %q)", path, name, optionsFor(query), "./"+path)
	}
	return nil
}

// optionsFor names the options that do what parameters would.
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
		return "; WithDB takes a database that is opened in any way"
	}
	return ""
}
