// Package docs_test keeps the documents of this folder true: the code that they quote compiles, and the
// fields, reasons, messages, flags, metrics and tests that they name exist.
package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/summarizer"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents returns the Markdown files of this folder and of the root.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 12 {
		t.Fatalf("only %v found: the test looks in the wrong place", files)
	}
	return files
}

// goFiles returns the names of Go files in the module, tests or all others.
func goFiles(t *testing.T, tests bool) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || file != ".." && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if filepath.Ext(file) == ".go" && strings.HasSuffix(file, "_test.go") == tests {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// code returns the text of Go files, tests or all others.
func code(t *testing.T, tests bool) string {
	t.Helper()
	var text strings.Builder
	for _, file := range goFiles(t, tests) {
		text.WriteString(read(t, file))
	}
	return text.String()
}

// dense returns the lines of a text without indentation and blank lines.
func dense(text string) string {
	var out strings.Builder
	out.WriteByte('\n')
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

func fenced(markdown, language string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(markdown, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// column returns the code spans that fill the first cell of a table's rows, or follow a name in bold, in a
// part of a document: from a text on, up to the next heading.
func column(t *testing.T, document, from string) []string {
	t.Helper()
	_, part, found := strings.Cut(document, from)
	if !found {
		t.Fatalf("no %q in the document", from)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	var cells []string
	for _, m := range regexp.MustCompile("(?m)^(?:\\| |\\*\\*`\\w+`\\*\\*: )`([^`]+)`").FindAllStringSubmatch(part, -1) {
		cells = append(cells, m[1])
	}
	return cells
}

// TestCodeInDocumentsCompiles: each block of Go is, line by line, a part of an example, which go test
// compiles and runs.
func TestCodeInDocumentsCompiles(t *testing.T) {
	t.Parallel()
	var examples strings.Builder
	for _, file := range goFiles(t, true) {
		if strings.HasSuffix(file, "example_test.go") {
			examples.WriteString(dense(read(t, file)))
		}
	}
	blocks := 0
	for _, file := range documents(t) {
		for _, block := range fenced(read(t, file), "go") {
			blocks++
			if !strings.Contains(examples.String(), dense(block)) {
				t.Errorf("%s quotes code that no *example_test.go has, line by line:\n%s", file, block)
			}
		}
	}
	if blocks < 4 {
		t.Errorf("%d blocks of Go found: the test reads wrongly", blocks)
	}
}

// TestConfigurationNamesEveryField: configuration.md has a part for each field, with its default, when to
// change it, and an example that compiles.
func TestConfigurationNamesEveryField(t *testing.T) {
	t.Parallel()
	document, examples := read(t, "configuration.md"), dense(read(t, "example_test.go"))
	defaults := reflect.ValueOf(compaction.DefaultConfig())
	for _, field := range reflect.VisibleFields(defaults.Type()) {
		_, part, found := strings.Cut(document, "### `"+field.Name+"`\n")
		if !found {
			t.Errorf("configuration.md has no heading for Config.%s", field.Name)
			continue
		}
		part, _, _ = strings.Cut(part, "\n#")
		for _, want := range []string{"* Default: ", "* Change it: ", "* Example: `cfg." + field.Name + " = "} {
			if !strings.Contains(part, want) {
				t.Errorf("the part about Config.%s lacks %q", field.Name, want)
			}
		}
		_, example, _ := strings.Cut(part, "* Example: `")
		if example = strings.TrimSuffix(strings.TrimSpace(example), "`"); !strings.Contains(examples, "\n"+example+"\n") {
			t.Errorf("example_test.go lacks the example of Config.%s: %s", field.Name, example)
		}
		// Of what tells the sliding window from the recommended config, configuration.md has both.
		if value := defaults.FieldByIndex(field.Index); !value.IsZero() && value.Kind() != reflect.Int64 && field.Name != "InvocationThreshold" && field.Name != "SafetyRatio" {
			if want := "* Default: " + fmt.Sprint(value) + "."; !strings.Contains(part, want) {
				t.Errorf("the part about Config.%s lacks %q", field.Name, want)
			}
		}
	}
	for _, m := range regexp.MustCompile("(?m)^### `(\\w+)`").FindAllStringSubmatch(document, -1) {
		if _, found := defaults.Type().FieldByName(m[1]); !found {
			t.Errorf("configuration.md has a part about Config.%s, which does not exist", m[1])
		}
	}
	others := []string{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[summarizer.LLMConfig]()) {
		others = append(others, "`"+field.Name+"`")
	}
	for name := range exports(t)["persistence"] {
		if strings.HasPrefix(name, "With") {
			others = append(others, "`"+name+"(")
		}
	}
	_, part, _ := strings.Cut(document, "## Other settings")
	for _, name := range others {
		if !strings.Contains(part, name) {
			t.Errorf("configuration.md does not name %s under other settings", name)
		}
	}
	if len(others) < 8 {
		t.Errorf("only %v found: the test reads wrongly", others)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[toolresult.Config]()) {
		_, part, _ := strings.Cut(document, "\n## Cutting tool results\n")
		if part, _, _ = strings.Cut(part, "\n## "); field.Name != "Limits" && !strings.Contains(part, "`"+field.Name+"`") {
			t.Errorf("configuration.md does not name toolresult.Config's field %s", field.Name)
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[longsession.Config]()) {
		if _, part, _ := strings.Cut(document, "`longsession.Config`"); !strings.Contains(part, "`"+field.Name+"`") {
			t.Errorf("configuration.md does not name longsession.Config's field %s: add a row to the table of \"The front door\"", field.Name)
		}
	}
}

// TestReasonsExist: people look a reason up by its text.
func TestReasonsExist(t *testing.T) {
	t.Parallel()
	document, source := read(t, "troubleshooting.md"), code(t, false)
	source = regexp.MustCompile(`%[-+.0-9]*[a-zA-Z]`).ReplaceAllString(source, "…")
	reasons := slices.Concat(
		column(t, document, "## It does not fire"), column(t, document, "## It fires and nothing is stored"), column(t, document, "## It fails"))
	if len(reasons) < 30 {
		t.Errorf("%d reasons found: the test reads wrongly", len(reasons))
	}
	for _, reason := range reasons {
		if reason == "context canceled" { // Go's own
			continue
		}
		if text := strings.TrimSuffix(reason, ": …"); !strings.Contains(source, `"`+text) && !strings.Contains(source, text+`"`) {
			t.Errorf("troubleshooting.md explains %q, which the code never says", reason)
		}
	}
	for _, reason := range []selector.Reason{selector.NotDue, selector.NothingEligible, selector.Blocked, selector.TooSmall, selector.TooLarge} {
		if !slices.Contains(reasons, string(reason)) {
			t.Errorf("troubleshooting.md does not explain %q", reason)
		}
	}
}

// TestTriggersAreListedEverywhere: a list of triggers has those that package record has, in its order.
func TestTriggersAreListedEverywhere(t *testing.T) {
	t.Parallel()
	var triggers []string
	for _, m := range regexp.MustCompile(`Trigger = "(\w+)"`).FindAllStringSubmatch(read(t, "../record/record.go"), -1) {
		triggers = append(triggers, m[1])
	}
	if len(triggers) < 5 {
		t.Fatalf("%v found: the test reads wrongly", triggers)
	}
	for file, start := range map[string]string{
		"glossary.md":          "| **trigger** |",
		"quick-reference.md":   "| `record.Trigger` |",
		"../compaction/doc.go": "gen_ai.compaction.trigger               *",
	} {
		_, list, found := strings.Cut(read(t, file), start)
		list, _, _ = strings.Cut(list, "\n")
		list = list[strings.LastIndex(list, ":")+1:]
		if got := regexp.MustCompile(`\w+`).FindAllString(strings.Replace(list, " or ", " ", 1), -1); !found || !slices.Equal(got, triggers) {
			t.Errorf("%s lists the triggers %q, and package record has %q", file, got, triggers)
		}
	}
}

// TestSpellingIsAmerican: documents and comments have one spelling, so that a search finds everything.
func TestSpellingIsAmerican(t *testing.T) {
	t.Parallel()
	british := regexp.MustCompile(`(?i)(cancell(ed|ing)|labell(ed|ing)|modell(ed|ing)|travell(ed|er|ing)|(col|hon|fav|behavi|neighb|lab)our|` +
		`(organ|recogn|normal|serial|initial|summar|optim|synchron|minim|maxim|util|real|custom|apolog|emphas|general)is(e|es|ed|ing|ation)|` +
		`analys(e|ed|ing)|fulfil|licence|defence|centre)s?\b|\b(grey|whilst|amongst|judgement)\b`)
	comments := 0
	for _, file := range documents(t) {
		if found := british.FindAllString(read(t, file), -1); found != nil {
			t.Errorf("%s has British spellings: %q", file, found)
		}
	}
	for _, file := range slices.Concat(goFiles(t, false), goFiles(t, true)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range parsed.Comments {
			comments++
			if found := british.FindAllString(comment.Text(), -1); found != nil {
				t.Errorf("%s: a comment has British spellings: %q", file, found)
			}
		}
	}
	if comments < 1000 {
		t.Errorf("%d comments found: the test reads wrongly", comments)
	}
}

// TestLogMessagesAndMetricsExist: operations.md lists every message that the service logs, and every
// metric.
func TestLogMessagesAndMetricsExist(t *testing.T) {
	t.Parallel()
	document, source := read(t, "operations.md"), code(t, false)
	messages := regexp.MustCompile("(?m)^\\| (?:Warn|Info) \\| `([^`]+)`").FindAllStringSubmatch(document, -1)
	for _, m := range messages {
		if !strings.Contains(source, `"`+m[1]+`"`) {
			t.Errorf("operations.md lists the log message %q, which the code never logs", m[1])
		}
	}
	metrics := regexp.MustCompile("(?m)^\\| `(compaction\\.\\w+(?:\\.\\w+)?)`").FindAllStringSubmatch(document, -1)
	for _, m := range metrics {
		if !strings.Contains(source, `"`+m[1]+`"`) {
			t.Errorf("operations.md lists the metric %q, which the code never records", m[1])
		}
	}
	logged := len(regexp.MustCompile(`slog\.Level(?:Warn|Info), `).FindAllString(source, -1))
	if len(messages) < 5 || len(messages) < logged || len(metrics) != 8 {
		t.Errorf("operations.md lists %d messages and %d metrics; the code has %d messages and 8 metrics", len(messages), len(metrics), logged)
	}
}

// TestFlagsExist: command.md describes each flag that a document names, and other tests hold command.md
// against the command.
func TestFlagsExist(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile("(?:^|[\\s`(])(--[a-z][a-z-]+)")
	manual, named := read(t, "command.md"), 0
	for _, file := range documents(t) {
		for _, m := range flag.FindAllStringSubmatch(read(t, file), -1) {
			if named++; !strings.Contains(manual, m[1]) {
				t.Errorf("%s names the flag %s, which command.md does not describe", file, m[1])
			}
		}
	}
	if named < 30 {
		t.Errorf("%d flags found: the test reads wrongly", named)
	}
}

// TestEveryPinHasItsNote: a behavior of ADK that a test pins is explained, and the other way round.
func TestEveryPinHasItsNote(t *testing.T) {
	t.Parallel()
	pin := regexp.MustCompile(`TestPin[A-Z]\w*`)
	noted := pin.FindAllString(read(t, "adk-notes.md"), -1)
	pinned := regexp.MustCompile(`func (TestPin[A-Z]\w*)\(`).FindAllStringSubmatch(code(t, true), -1)
	if len(pinned) < 14 {
		t.Errorf("%d pins found: the test looks in the wrong place", len(pinned))
	}
	for _, m := range pinned {
		if !slices.Contains(noted, m[1]) {
			t.Errorf("adk-notes.md does not explain what %s pins", m[1])
		}
	}
	for _, name := range noted {
		if !slices.ContainsFunc(pinned, func(m []string) bool { return m[1] == name }) && adk.Major == 1 { // some are for v1 only
			t.Errorf("adk-notes.md names %s, which does not exist", name)
		}
	}
}

// TestNamesExist: what a document calls package.Name is exported by that package.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	exported := exports(t)
	name := regexp.MustCompile("`[^`\n]*?\\b(longsession|[a-z]+)\\.([A-Z]\\w*)")
	named := 0
	for _, file := range documents(t) {
		if filepath.Base(file) == "CHANGELOG.md" { // it also names what was removed
			continue
		}
		for _, m := range name.FindAllStringSubmatch(read(t, file), -1) {
			names, ours := exported[m[1]]
			if !ours {
				continue
			}
			if named++; !names[m[2]] {
				t.Errorf("%s names %s.%s, which does not exist", file, m[1], m[2])
			}
		}
	}
	if named < 50 {
		t.Errorf("%d names found: the test reads wrongly", named)
	}
}

// exports returns the exported names of each public package: declarations, methods and fields.
func exports(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	for _, file := range goFiles(t, false) {
		if strings.Contains(file, "internal") || strings.Contains(file, "bench/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		name := parsed.Name.Name
		if out[name] == nil {
			out[name] = map[string]bool{}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				out[name][n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				out[name][n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					out[name][id.Name] = true
				}
			}
			return true
		})
	}
	delete(out, "main")
	return out
}

// namesByPackage returns what the tables "What observers see" and "Types and values" say of each package.
func namesByPackage(t *testing.T) map[string][]string {
	t.Helper()
	_, tables, _ := strings.Cut(read(t, "quick-reference.md"), "## What observers see")
	tables, _, _ = strings.Cut(tables, "## Optional interfaces")
	row, name := regexp.MustCompile("(?m)^\\| `([a-z]+)`[^|]*\\|(.*)$"), regexp.MustCompile("`([A-Z]\\w*)`")
	out := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(tables, -1) {
		for _, n := range name.FindAllStringSubmatch(m[2], -1) {
			out[m[1]] = append(out[m[1]], n[1])
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d packages found: the test reads wrongly", len(out))
	}
	return out
}

// TestEveryNameIsInADocumentOrAnExample: who meets an exported name of the library finds what it is for. A name that is
// not worth a word is not worth exporting.
func TestEveryNameIsInADocumentOrAnExample(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	for _, file := range documents(t) {
		if filepath.Base(file) != "CHANGELOG.md" {
			said.WriteString(read(t, file))
		}
	}
	for _, file := range append(goFiles(t, true), goFiles(t, false)...) {
		if strings.HasSuffix(file, "example_test.go") || strings.HasPrefix(file, filepath.Join("..", "examples")) {
			said.WriteString(read(t, file))
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`).FindAllStringSubmatch(said.String(), -1) {
		named[m[1]+"."+m[2]] = true
	}
	inTables := namesByPackage(t)
	exported := exports(t)
	for pkg, names := range inTables {
		for _, name := range names {
			if named[pkg+"."+name] = true; !exported[pkg][name] {
				t.Errorf("quick-reference.md names %s in the row of package %s, which does not export it", name, pkg)
			}
		}
	}
	found := 0
	for _, file := range goFiles(t, false) {
		if inner := strings.Contains(file, "internal"+string(filepath.Separator)); inner || nested(file) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for name := range declared(parsed) {
			if found++; !named[parsed.Name.Name+"."+name] {
				t.Errorf("%s.%s is in no document and no example: add it to quick-reference.md, under \"Types and values\", or do not export it",
					parsed.Name.Name, name)
			}
		}
	}
	if most := 550; found < 400 || found > most {
		t.Errorf("the library exports %d names, at most %d are meant: is there another way to say it?", found, most)
	}
}

// nested reports whether a file belongs to another module than the library.
func nested(file string) bool {
	for dir := filepath.Dir(file); dir != ".."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// declared yields the exported names of a file that belong to its package: no methods and no fields.
func declared(file *ast.File) iter.Seq[string] {
	return func(yield func(string) bool) {
		var names []*ast.Ident
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names = append(names, d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names = append(names, spec.Name)
					case *ast.ValueSpec:
						names = append(names, spec.Names...)
					}
				}
			}
		}
		for _, name := range names {
			if name.IsExported() && !yield(name.Name) {
				return
			}
		}
	}
}

// TestDependenciesAreUsedWhereTheTableSays: each package that ARCHITECTURE.md names next to a module
// imports it, and what only tests use is imported by no other code.
func TestDependenciesAreUsedWhereTheTableSays(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, "../ARCHITECTURE.md"), "## Dependencies")
	users := map[string][]string{} // folders by what their code imports
	for _, file := range goFiles(t, false) {
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../")
		if strings.HasPrefix(folder, "bench") || strings.HasPrefix(folder, "internal/testkit") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			users[path] = append(users[path], folder)
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\|").FindAllStringSubmatch(table, -1)
	if len(rows) < 30 {
		t.Errorf("%d modules found: the test reads wrongly", len(rows))
	}
	for _, row := range rows {
		module, where := row[1], row[2]
		var found []string
		for path, folders := range users {
			if path == module || strings.HasPrefix(path, module+"/") {
				found = append(found, folders...)
			}
		}
		if where == "tests" && len(found) > 0 {
			t.Errorf("ARCHITECTURE.md says that only tests use %s, and %v import it", module, found)
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(where, -1) {
			prefix, many := strings.CutSuffix(m[1], "*")
			if !slices.ContainsFunc(found, func(folder string) bool { return folder == m[1] || many && strings.HasPrefix(folder, prefix) }) {
				t.Errorf("ARCHITECTURE.md says that %s uses %s, and %v import it", m[1], module, found)
			}
		}
	}
}

// TestFilesNamedInDocumentsExist: a path of a Go file leads to it, and a function named behind it is there.
func TestFilesNamedInDocumentsExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`((?:[\\w.-]+/)+[\\w.-]+\\.go)`(?: \\(([A-Za-z]+(?:, [A-Za-z]+)*)(?:: [^)]*)?\\))?")
	found := 0
	for _, file := range documents(t) {
		if filepath.Base(file) == "CHANGELOG.md" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(read(t, file), -1) {
			found++
			text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(m[1])))
			if err != nil {
				t.Errorf("%s names %s: %v", file, m[1], err)
				continue
			}
			for _, name := range strings.Split(m[2], ", ") {
				if name != "" && !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+name+`[\[(]`).Match(text) {
					t.Errorf("%s says that %s has a function %s, and it has not", file, m[1], name)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("%d files named: the test reads wrongly", found)
	}
}

// TestMakeTargetsExist: a command that a document names works.
func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	targets, found := read(t, "../Makefile"), 0
	for _, file := range documents(t) {
		for _, m := range regexp.MustCompile("`(?:[A-Z]+=\\w+ )?make (\\w+)`").FindAllStringSubmatch(read(t, file), -1) {
			if found++; !strings.Contains(targets, "\n"+m[1]+": ## ") {
				t.Errorf("%s names make %s, which the Makefile does not have", file, m[1])
			}
		}
	}
	if found < 7 {
		t.Errorf("%d targets found: the test reads wrongly", found)
	}
}
