package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/adk-go-ext/longsession/internal/secrets"
)

// Version is the version of the file format that this package reads, in the key version. A file without it has this
// version.
const Version = 1

// maxFile bounds a file of settings. One with every key is below 4 KiB.
const maxFile = 1 << 20

// FileError is one thing that is wrong in a file.
type FileError struct {
	File         string
	Line, Column int    // from 1; 0 if it is about the whole file
	Key          string // "" if it is about no key
	Reason       string // what is wrong, and what to do
}

// Error begins with the place: "longsession.toml:3:1: compaction.thresold: there is no such key".
func (e *FileError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Key != "" {
		place += ": " + e.Key
	}
	return place + ": " + e.Reason
}

// DefaultPath is longsession/config.toml in the user's folder of configuration files, see [os.UserConfigDir].
func DefaultPath() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("the folder of the settings is not known: %w", err)
	}
	return filepath.Join(folder, "longsession", "config.toml"), nil
}

// Read reads a file. The error joins a [*FileError] for everything that is wrong with it. For a file that does not
// exist, errors.Is finds [os.ErrNotExist].
func Read(path string) (Values, error) {
	refuse := func(reason string) (Values, error) { return Values{}, &FileError{File: path, Reason: reason} }
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Values{}, unreadable(path, err)
	case info.IsDir():
		return refuse("it is a folder: name a file of settings in TOML")
	case !info.Mode().IsRegular():
		return refuse("it is not a regular file: name a file of settings in TOML")
	case info.Size() > maxFile:
		return refuse(fmt.Sprintf("it has %d bytes, and a file of settings has at most %d: is it another file?", info.Size(), maxFile))
	}
	f, err := os.Open(path)
	if err != nil {
		return Values{}, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return Values{}, unreadable(path, err)
	}
	return Parse(path, data)
}

// unreadable is the error of a file that the system does not hand out.
func unreadable(path string, err error) error {
	if at := (*os.PathError)(nil); errors.As(err, &at) {
		err = at.Err // which has the path, and what was called, too
	}
	return fmt.Errorf("%s: %w: name a file of settings in TOML", path, err)
}

// Parse reads the text of a file. name is the file's, for errors and origins; a prompt template is sought in its folder.
// The error joins a [*FileError] for everything that is wrong.
func Parse(name string, data []byte) (Values, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // which editors on Windows write
	if at := invalid(data); at >= 0 {
		return Values{}, &FileError{File: name, Line: 1 + bytes.Count(data[:at], []byte("\n")), Column: at - bytes.LastIndexByte(data[:at], '\n'), Reason: "this is not UTF-8: save the file as UTF-8"}
	}
	f := &file{name: name}
	if err := toml.Unmarshal(data, &f.tree); err != nil {
		return Values{}, f.syntax(err)
	}
	if problem := f.newer(); problem != nil {
		return Values{}, problem
	}
	f.walk(data)
	return f.values, errors.Join(f.problems...)
}

// invalid returns where the first byte is that is not UTF-8, -1 if there is none.
func invalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// file is one that is read.
type file struct {
	name     string
	tree     map[string]any
	values   Values
	problems []error
	parser   unstable.Parser
}

func (f *file) syntax(err error) error {
	var at *toml.DecodeError
	if !errors.As(err, &at) {
		return &FileError{File: f.name, Reason: err.Error()}
	}
	line, column := at.Position()
	return &FileError{File: f.name, Line: line, Column: column, Reason: strings.TrimPrefix(at.Error(), "toml: ")}
}

// newer refuses a file of another version before anything in it is judged.
func (f *file) newer() error {
	version, set := f.tree["version"]
	if !set {
		return nil
	}
	switch n, whole := version.(int64); {
	case !whole || n < 1:
		return &FileError{File: f.name, Key: "version", Reason: fmt.Sprintf("use %d", Version)}
	case n > Version:
		return &FileError{File: f.name, Key: "version", Reason: fmt.Sprintf("the file is of version %d, and this program reads version %d: update the program", n, Version)}
	}
	return nil
}

// walk takes every value of the file, with its place.
func (f *file) walk(data []byte) {
	f.parser.Reset(data)
	var table []string
	skip := false // the table is refused as a whole
	for f.parser.NextExpression() {
		e := f.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, skip = f.table(e)
		case unstable.KeyValue:
			if !skip {
				f.pair(table, e)
			}
		}
	}
}

// table returns the name of a table, and whether it was refused.
func (f *file) table(e *unstable.Node) (name []string, refused bool) {
	name, at := f.key(e)
	full := strings.Join(name, ".")
	_, isKey := find(full)
	switch {
	case e.Kind == unstable.ArrayTable:
		f.refuse(at, full, "this is a list of tables: use one pair of brackets, ["+full+"]")
	case isKey:
		f.refuse(at, full, "this is a value, not a table: write it below ["+full[:strings.LastIndexByte(full, '.')]+"]")
	case !tables()[full]:
		f.refuse(at, full, "there is no such table"+nearTable(full))
	default:
		return name, false
	}
	return name, true
}

// pair takes a key and its value.
func (f *file) pair(table []string, e *unstable.Node) {
	name, at := f.key(e)
	path := append(append([]string(nil), table...), name...)
	full := strings.Join(path, ".")
	if full == "version" {
		return
	}
	if e.Value().Kind == unstable.InlineTable {
		if tables()[full] {
			for children := e.Value().Children(); children.Next(); {
				f.pair(path, children.Node())
			}
			return
		}
	} else if tables()[full] {
		f.refuse(at, full, "this is a table: write its keys below ["+full+"]")
		return
	}
	o, known := find(full)
	if !known {
		f.refuse(at, full, "there is no such key"+didYouMean(full))
		return
	}
	value := f.value(path)
	text, reason := textOf(o.Kind, value)
	if value == 0.0 {
		text = strings.ReplaceAll(string(e.Value().Data), "_", "") // as it was written: what rounds to 0 is refused
	}
	if reason != "" {
		f.refuse(at, full, reason)
		return
	}
	if o.stored() == promptTemplate {
		text = beside(f.name, text)
	}
	if err := f.values.Set(full, text); err != nil {
		f.refuse(at, full, fmt.Sprintf("it is %s: %s", shown(text), reasonOf(err)))
		return
	}
	place := fmt.Sprintf("%s:%d:%d", f.name, at.Line, at.Column)
	if o.SameAs != "" {
		place += " " + full
	}
	f.values.places[full] = place
}

// stored is the key under which the value of an option is kept.
func (o *option) stored() string {
	if o.SameAs != "" {
		return o.SameAs
	}
	return o.Name
}

// key returns the parts of a key and the place of the first one.
func (f *file) key(e *unstable.Node) ([]string, unstable.Position) {
	var parts []string
	var at unstable.Position
	for keys := e.Key(); keys.Next(); {
		node := keys.Node()
		if len(parts) == 0 {
			at = f.parser.Shape(node.Raw).Start
		}
		parts = append(parts, string(node.Data))
	}
	return parts, at
}

// value returns a value of the tree. A table of the path may be missing in a file that is refused anyway.
func (f *file) value(path []string) any {
	var value any = f.tree
	for _, part := range path {
		table, _ := value.(map[string]any)
		value = table[part]
	}
	return value
}

func (f *file) refuse(at unstable.Position, key, reason string) {
	f.problems = append(f.problems, &FileError{f.name, at.Line, at.Column, key, reason})
}

// textOf returns a value as a flag would have it, or what is wrong with its type.
func textOf(kind Kind, value any) (text, reason string) {
	text, is := "", ""
	switch v := value.(type) {
	case string:
		text, is = v, "a text"
	case bool:
		text, is = strconv.FormatBool(v), "true or false"
	case int64:
		text, is = strconv.FormatInt(v, 10), "a whole number"
	case float64:
		text, is = strconv.FormatFloat(v, 'f', -1, 64), "a number with a point"
	case []any:
		is = "a list"
	case map[string]any:
		is = "a table"
	default:
		is = "a date or a time"
	}
	switch kind {
	case Text:
		if is == "a text" {
			return text, ""
		}
		return "", fmt.Sprintf("it is %s, and must be a text: write it in quotation marks", is)
	case Turns:
		if is == "a text" || is == "a whole number" {
			return text, ""
		}
		return "", fmt.Sprintf("it is %s: write \"price\", or a whole number without quotation marks", is)
	case Toggle:
		if is == "true or false" {
			return text, ""
		}
		return "", fmt.Sprintf("it is %s: write true or false, without quotation marks", is)
	case Count:
		if is == "a whole number" {
			return text, ""
		}
		return "", fmt.Sprintf("it is %s: write a whole number, without quotation marks", is)
	}
	if is == "a whole number" || is == "a number with a point" {
		return text, ""
	}
	return "", fmt.Sprintf("it is %s: write a number such as 0.5, without quotation marks", is)
}

func shown(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return fmt.Sprintf("%.60q", secrets.Shown(text))
}

// fromFile begins a value that is the name of a file.
const fromFile = "file://"

// beside makes the name of a file that a file of settings names relative to that file's folder.
func beside(settings, text string) string {
	path, is := strings.CutPrefix(text, fromFile)
	if !is || path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "~/") {
		return text
	}
	return fromFile + filepath.Join(filepath.Dir(settings), path)
}

// readText returns the text that a value stands for, and what is wrong with it.
func readText(value string) (text, reason string) {
	path, is := strings.CutPrefix(value, fromFile)
	if !is {
		return value, ""
	}
	if rest, home := strings.CutPrefix(path, "~/"); home {
		folder, err := os.UserHomeDir()
		if err != nil {
			return "", "your home folder is not known: name the file without ~"
		}
		path = filepath.Join(folder, rest)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", "there is no file " + path
	case err != nil:
		return "", err.Error()
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return "", fmt.Sprintf("%s must be a file of at most %d bytes", path, maxFile)
	}
	data, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "", err.Error()
	case !utf8.Valid(data):
		return "", path + " is not UTF-8"
	}
	return string(data), ""
}

// PathVariable names a file in the place of [DefaultPath].
const PathVariable = "LONGSESSION_CONFIG"

// Locate returns the file to read: path if it is not empty, else what the variable [PathVariable] names, else
// [DefaultPath] if that exists, else "". lookup is os.LookupEnv. A file that a person has named must exist, so it is
// returned in any case.
func Locate(path string, lookup func(name string) (string, bool)) string {
	if path != "" {
		return path
	}
	if named, set := lookup(PathVariable); set && named != "" {
		return named
	}
	usual, err := DefaultPath()
	if err != nil {
		return "" // a system user without a home has no settings
	}
	if _, err := os.Stat(usual); errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return usual
}
