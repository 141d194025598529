package longsession_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/adk-go-ext/longsession"

// anything is for folders that nothing imports.
var anything = []string{"*"}

// mayImport lists which packages of this module the code of each folder may import. Imports point one
// way, and the pure cores stay pure. The tree in ARCHITECTURE.md shows the same in ranks.
var mayImport = map[string][]string{
	"cmd/longsession/chat":                 {"internal/configerr", "internal/adk", "cmd/longsession/internal/terminal", ".", "cmd/longsession/chat/internal/slash", "cmd/longsession/chat/internal/input", "layer/budget", "compaction", "layer/contexttool", "layer/guard", "internal/activity", "layer/recall", "record", "tokens", "layer/toolresult/store"},
	"cmd/longsession/chat/chatlauncher":    {"cmd/longsession/chat"},
	"cmd/longsession/chat/internal/slash":  {},
	"cmd/longsession/chat/internal/input":  {"cmd/longsession/internal/terminal"},
	"cmd/longsession/chat/sessionlock":     {},
	"cmd/longsession/internal/openai":      {"internal/secrets"},
	"internal/scripted":                    {"internal/adk", "tokens"},
	"cmd/longsession/config":               {"internal/secrets", "layer/guard/watchdog", ".", "compaction", "internal/adk", "preset", "summarizer", "tokens", "layer/toolresult"},
	"cmd/longsession/internal/chatcmd":     {"internal/configerr", "internal/secrets", ".", "cmd/longsession/chat", "cmd/longsession/config", "preset", "layer/contexttool", "layer/prompt", "layer/prompt/agentsmd", "layer/guard", "persistence", "compaction", "layer/subtask", "layer/subtask/tools", "layer/recall", "tokens", "cmd/longsession/internal/openai", "internal/scripted", "cmd/longsession/chat/sessionlock", "internal/wrapper", "summarizer", "layer/budget", "cmd/longsession/internal/pricing", "cmd/longsession/internal/terminal", "cmd/longsession/internal/exit", "cmd/longsession/internal/files", "cmd/longsession/internal/suggest", "cmd/longsession/internal/setting"},
	"cmd/longsession/internal/configcmd":   {"cmd/longsession/config", "preset", "cmd/longsession/internal/terminal", "cmd/longsession/internal/chatcmd", "cmd/longsession/internal/exit", "cmd/longsession/internal/setting"},
	"cmd/longsession/internal/doctorcmd":   {"cmd/longsession/config", "cmd/longsession/chat/sessionlock", "cmd/longsession/internal/terminal", "cmd/longsession/internal/audit", "cmd/longsession/internal/chatcmd", "cmd/longsession/internal/exit", "cmd/longsession/internal/suggest", "cmd/longsession/internal/setting"},
	"cmd/longsession/internal/servecmd":    {"cmd/longsession/internal/live", "cmd/longsession/internal/audit", "cmd/longsession/internal/pricing", "tokens", "cmd/longsession/internal/terminal", "cmd/longsession/internal/exit", "cmd/longsession/internal/suggest", "cmd/longsession/internal/setting"},
	"cmd/longsession/internal/live":        {"internal/adk", "cmd/longsession/internal/audit", "cmd/longsession/internal/chart", "persistence", "cmd/longsession/internal/terminal", "internal/sessionfile"},
	".":                                    {"internal/configerr", "internal/survive", "layer/recall", "layer/guard/watchdog", "layer/budget", "compaction", "layer/contexttool", "layer/guard", "internal/activity", "preset", "layer/prompt", "layer/subtask", "layer/toolsearch", "layer/toolresult", "layer/toolresult/store", "tokens", "internal/adk", "internal/promptsize", "internal/view", "internal/wrapper"},
	"cmd/longsession/internal/recallcmd":   {"internal/wordsearch", "layer/recall", "layer/recall/index", "compaction", "persistence", "cmd/longsession/internal/terminal", "cmd/longsession/internal/exit", "cmd/longsession/internal/files", "cmd/longsession/internal/suggest", "cmd/longsession/internal/setting", "cmd/longsession/internal/audit"},
	"internal/quote":                       {},
	"cmd/longsession/transfer":             {"internal/adk", "internal/view", "persistence", "record", "internal/sessionfile"},
	"layer/recall":                         {"internal/wordsearch", "internal/configerr", "layer/recall/index", "compaction", "internal/adk", "internal/hanging", "internal/outbox", "internal/promptsize", "internal/quote", "internal/recalled", "record", "tokens"},
	"layer/recall/index":                   {},
	"internal/wordsearch":                  {"layer/recall/index", "internal/adk", "internal/recalled", "internal/terms", "record"},
	"internal/recalled":                    {},
	"internal/secrets":                     {},
	"internal/kept":                        {"internal/values", "record"},
	"internal/said":                        {"internal/adk", "internal/notes", "internal/values", "record", "tokens"},
	"internal/values":                      {"internal/adk", "internal/notes", "internal/recalled", "internal/secrets", "internal/terms", "record", "tokens"},
	"layer/guard/watchdog":                 {"internal/configerr", "internal/survive", "internal/canonical", "internal/notes", "tokens"},
	"historyhttp":                          {"compaction", "record"},
	"layer/contexttool":                    {"internal/configerr", "compaction", "internal/adk"},
	"internal/wrapper":                     {"internal/adk"},
	"internal/window":                      {"tokens"},
	"layer/budget":                         {"internal/configerr", "internal/survive", "internal/hanging", "internal/notes", "internal/outbox", "internal/window", "internal/wrapper", "compaction", "layer/toolresult", "layer/toolresult/store", "tokens", "internal/adk", "internal/canonical", "internal/promptsize"},
	"layer/prompt/agentsmd":                {"internal/configerr", "internal/notes", "internal/quote", "internal/survive", "layer/prompt"},
	"layer/prompt":                         {"internal/configerr", "internal/survive", "internal/adk", "internal/hanging", "internal/notes", "internal/outbox", "internal/promptsize", "internal/wrapper", "tokens", "layer/toolresult", "layer/toolresult/store"},
	"layer/toolresult":                     {"internal/configerr", "internal/survive", "internal/notes", "internal/outbox", "internal/pattern", "internal/recalled", "internal/unknowntool", "layer/toolresult/store", "tokens", "internal/adk", "internal/canonical"},
	"layer/toolsearch":                     {"internal/configerr", "internal/quote", "internal/survive", "filtered", "internal/adk", "internal/outbox", "internal/promptsize", "internal/terms", "internal/unknowntool", "internal/view", "internal/window", "internal/wrapper", "record", "tokens", "layer/toolresult", "layer/toolresult/store"},
	"layer/toolresult/store":               {"internal/adk", "internal/canonical", "internal/notes"},
	"layer/toolresult/store/storetest":     {"layer/toolresult/store"},
	"internal/outbox":                      {"internal/survive"},
	"internal/unknowntool":                 {},
	"internal/canonical":                   {"internal/survive"},
	"internal/notes":                       {"internal/quote"},
	"internal/hanging":                     {},
	"internal/runnerconfig":                {},
	"internal/pattern":                     {},
	"internal/survive":                     {},
	"layer/guard/internal/ledger":          {"tokens"},
	"layer/guard":                          {"internal/configerr", "internal/survive", "layer/guard/internal/ledger", "layer/guard/watchdog", "compaction", "tokens", "layer/toolresult", "internal/adk", "internal/notes", "internal/outbox", "internal/promptsize", "internal/window", "internal/wrapper"},
	"internal/configerr":                   {"internal/adk"},
	"internal/catalog":                     {},
	"record":                               {"internal/adk"},
	"tokens":                               {},
	"internal/activity":                    {"tokens"},
	"internal/adk":                         {},
	"internal/oracle":                      {"record", "tokens"},
	"internal/terms":                       {},
	"internal/testkit":                     {},
	"internal/testkit/recorded":            {},
	"internal/testkit/requests":            {},
	"internal/testkit/histories":           {"record", "internal/adk"},
	"internal/testkit/storages":            {"persistence"},
	"replay/conversation":                  {"record", "internal/adk"},
	"replay":                               {"internal/runnerconfig", "layer/recall", "internal/said", "internal/values", ".", "layer/guard/watchdog", "layer/budget", "layer/toolresult", "layer/toolresult/store", "layer/toolsearch", "record", "summarizer", "tokens", "compaction", "replay/conversation", "internal/adk", "internal/oracle", "internal/promptsize"},
	"cmd/longsession/internal/chart":       {"replay", "cmd/longsession/internal/terminal"},
	"cmd/longsession/internal/audit":       {"internal/wordsearch", "layer/contexttool", "layer/recall", "layer/recall/index", "internal/said", "internal/values", "layer/guard", "internal/activity", "layer/toolresult", "layer/toolresult/store", "record", "internal/selector", "summarizer", "tokens", "compaction", "persistence", "internal/adk", "internal/oracle", "internal/promptsize", "internal/view", "cmd/longsession/internal/redact", "cmd/longsession/internal/terminal", "internal/sessionfile", "internal/textindex"},
	"cmd/longsession/internal/redact":      {"internal/secrets"},
	"cmd/longsession/internal/terminal":    {},
	"cmd/longsession/internal/exit":        {"cmd/longsession/internal/terminal"},
	"cmd/longsession/internal/files":       {"cmd/longsession/internal/exit"},
	"cmd/longsession/internal/suggest":     {"cmd/longsession/internal/terminal"},
	"cmd/longsession/internal/pricing":     {"tokens", "cmd/longsession/internal/setting", "cmd/longsession/internal/terminal"},
	"cmd/longsession/internal/setting":     {"cmd/longsession/internal/suggest", "cmd/longsession/internal/terminal"},
	"cmd/longsession/internal/replaycmd":   {"cmd/longsession/config", "cmd/longsession/internal/chatcmd", "internal/wrapper", "internal/adk", "internal/configerr", ".", "layer/guard/watchdog", "layer/budget", "layer/toolresult", "layer/toolresult/store", "layer/toolsearch", "replay", "replay/conversation", "compaction", "persistence", "summarizer", "tokens", "cmd/longsession/internal/terminal", "cmd/longsession/internal/exit", "cmd/longsession/internal/files", "cmd/longsession/internal/suggest", "cmd/longsession/internal/pricing", "cmd/longsession/internal/setting", "cmd/longsession/internal/chart"},
	"cmd/longsession/internal/auditcmd":    {"internal/adk", "internal/configerr", "layer/recall", "internal/values", "record", "tokens", "layer/toolresult", "layer/toolresult/store", "compaction", "persistence", "cmd/longsession/internal/terminal", "cmd/longsession/transfer", "cmd/longsession/internal/exit", "cmd/longsession/internal/files", "cmd/longsession/internal/suggest", "cmd/longsession/internal/pricing", "cmd/longsession/internal/setting", "cmd/longsession/internal/audit", "cmd/longsession/internal/redact"},
	"cmd/longsession/internal/cli":         {"cmd/longsession/internal/chatcmd", "cmd/longsession/internal/configcmd", "cmd/longsession/internal/doctorcmd", "cmd/longsession/internal/servecmd", "cmd/longsession/internal/recallcmd", "cmd/longsession/internal/transfercmd", "replay", "cmd/longsession/internal/terminal", "cmd/longsession/internal/exit", "cmd/longsession/internal/suggest", "cmd/longsession/internal/setting", "cmd/longsession/internal/replaycmd", "cmd/longsession/internal/auditcmd"},
	"cmd/longsession/internal/transfercmd": {"cmd/longsession/internal/terminal", "cmd/longsession/transfer", "cmd/longsession/internal/exit", "cmd/longsession/internal/suggest", "cmd/longsession/internal/setting"},
	"cmd/longsession":                      {"cmd/longsession/internal/cli"},
	"filtered":                             {"internal/view"},
	"internal/selector":                    {"record", "internal/adk", "internal/promptsize"},
	"internal/cmd/v2":                      {},
	"internal/ids":                         {},
	"preset":                               {"internal/secrets", "compaction", "layer/contexttool", "layer/guard", "layer/guard/watchdog", "tokens"},
	"layer/subtask/tools":                  {"internal/configerr", "internal/pattern"},
	"layer/subtask":                        {"internal/configerr", "layer/guard", "compaction", "tokens", "internal/adk", "internal/canonical", "internal/outbox", "internal/promptsize", "internal/wrapper"},
	"internal/promptsize":                  {"internal/survive", "record", "tokens", "internal/view"},
	"internal/view":                        {"internal/quote", "internal/said", "internal/values", "record", "internal/adk"},
	"summarizer":                           {"internal/configerr", "internal/recalled", "record", "tokens", "internal/adk", "internal/notes"},
	"compaction/internal/learned":          {"record"},
	"compaction/internal/meter":            {"internal/survive", "compaction/internal/learned", "record", "tokens", "internal/adk", "internal/promptsize", "internal/view"},
	"compaction/internal/queue":            {},
	"compaction":                           {"internal/configerr", "internal/ids", "internal/values", "compaction/internal/compactor", "compaction/internal/meter", "compaction/internal/sessions", "compaction/internal/storage", "compaction/internal/telemetry", "compaction/internal/writer", "record", "summarizer", "tokens", "internal/adk", "internal/promptsize", "internal/view"},
	"compaction/internal/compactor":        {"internal/survive", "internal/hanging", "compaction/internal/meter", "compaction/internal/queue", "compaction/internal/sessions", "compaction/internal/storage", "compaction/internal/telemetry", "compaction/internal/writer", "record", "internal/selector", "tokens", "summarizer", "internal/adk", "internal/promptsize", "internal/view"},
	"compaction/internal/storage":          {"internal/adk", "compaction/internal/sessions", "compaction/internal/telemetry", "compaction/internal/writer", "record", "internal/view"},
	"compaction/internal/sessions":         {"internal/promptsize", "layer/toolresult", "compaction/internal/learned", "compaction/internal/meter", "compaction/internal/queue", "compaction/internal/writer", "filtered", "internal/adk", "internal/ids", "internal/view"},
	"compaction/internal/writer":           {"internal/hanging", "internal/kept", "internal/said", "internal/survive", "internal/values", "compaction/internal/learned", "compaction/internal/meter", "record", "internal/selector", "summarizer", "tokens", "internal/adk", "internal/ids", "internal/promptsize"},
	"compaction/internal/telemetry":        {"internal/survive", "internal/hanging", "compaction/internal/meter", "compaction/internal/sessions", "compaction/internal/writer", "record", "internal/selector", "summarizer", "tokens", "internal/adk"},
	"compactiontest":                       {"record", "summarizer", "tokens", "internal/adk", "internal/oracle", "internal/testkit/histories", "internal/view"},
	"internal/eventrow":                    {"record", "internal/adk"},
	"internal/sessionfile":                 {"internal/adk", "internal/eventrow", "record"},
	"internal/textindex":                   {"internal/wordsearch", "internal/eventrow", "internal/sessionfile", "layer/recall/index", "internal/adk"},
	"persistence":                          {"internal/configerr", "internal/wordsearch", "internal/textindex", "internal/eventrow", "internal/sessionfile", "layer/recall/index", "record", "layer/toolresult/store", "internal/adk", "internal/ids"},
	"persistence/adkdb":                    {"record", "internal/adk", "internal/ids"},
	"integration_test":                     anything,
	"examples/*":                           anything,
}

// TestPictureInARCHITECTUREIsTrue: every folder with code is in the picture of the tree, and imports only
// folders of lower rank.
func TestPictureInARCHITECTUREIsTrue(t *testing.T) {
	t.Parallel()
	ranks := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+) {5,6}(\S+) +\S`).FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		folder := m[2]
		if folder == "longsession" {
			folder = "."
		}
		rank, err := strconv.Atoi(m[1])
		if _, twice := ranks[folder]; err != nil || twice {
			t.Errorf("ARCHITECTURE.md shows %s twice, or with a rank that is no number: %v", m[2], err)
		}
		ranks[folder] = rank
	}
	imports := readImports(t)
	for folder, imported := range imports {
		rank, shown := ranks[folder]
		if !shown {
			t.Errorf("ARCHITECTURE.md does not show %s: add it to the tree, with a rank above those of all that it imports", folder)
			continue
		}
		for _, p := range imported {
			own, ours := strings.CutPrefix(p, module)
			if own = cmp.Or(strings.TrimPrefix(own, "/"), "."); ours && ranks[own] >= rank {
				t.Errorf("ARCHITECTURE.md shows %s with rank %d, and it imports %s of rank %d: give it a higher rank", folder, rank, own, ranks[own])
			}
		}
	}
	for folder := range ranks {
		if _, found := imports[folder]; !found {
			t.Errorf("ARCHITECTURE.md shows %s, which has no code", folder)
		}
	}
}

// databases register drivers or drag one in. Whoever wraps a session service chooses it alone.
var databases = []string{"database/sql", "gorm.io/", "modernc.org/", "github.com/mattn/", "github.com/glebarez/", "google.golang.org/adk/session/database", module + "/persistence"}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	imports := readImports(t)
	if len(imports) < len(mayImport)-1 {
		t.Errorf("found code in %d folders only: the test looks in the wrong place", len(imports))
	}
	for folder, imported := range imports {
		allowed, known := tableRow(folder)
		if !known {
			t.Errorf("%s is not in the table of imports: add it to mayImport in layout_test.go and to the picture in ARCHITECTURE.md", folder)
			continue
		}
		for _, p := range imported {
			own, ours := strings.CutPrefix(p, module+"/")
			if ours && !slices.Contains(allowed, own) && !slices.Equal(allowed, anything) {
				t.Errorf("%s imports %s: if it is meant to, add it to the row of %q in mayImport, in layout_test.go (\".\" is the root)", folder, own, folder)
			}
		}
	}
}

func TestWhatWrapsAServiceImportsNoDatabase(t *testing.T) {
	t.Parallel()
	imports := readImports(t)
	seen := map[string]bool{}
	var follow func(folder string, way []string)
	follow = func(folder string, way []string) {
		if seen[folder] {
			return
		}
		seen[folder] = true
		way = append(slices.Clone(way), folder)
		for _, p := range imports[folder] {
			for _, db := range databases {
				if p == db || strings.HasPrefix(p, db) {
					t.Errorf("%s imports %s: its driver would meet the app's own in one binary", strings.Join(way, " -> "), p)
				}
			}
			if own, ours := strings.CutPrefix(p, module+"/"); ours {
				follow(own, way)
			}
		}
	}
	for _, folder := range []string{".", "compaction", "historyhttp"} {
		follow(folder, nil)
	}
	if len(seen) < 5 {
		t.Errorf("compaction reaches %d packages of ours only: the test looks in the wrong place", len(seen))
	}
}

// TestOnlyTestsImportWhatIsForTests: a command or an app must not carry the packages that tests share.
func TestOnlyTestsImportWhatIsForTests(t *testing.T) {
	t.Parallel()
	forTests := map[string]bool{"testing": true, module + "/internal/testkit": true, module + "/internal/testkit/recorded": true, module + "/internal/testkit/requests": true, module + "/internal/testkit/storages": true}
	mayTest := []string{"internal/testkit", "internal/testkit/recorded", "internal/testkit/storages", "compactiontest", "layer/toolresult/store/storetest"} // suites take a *testing.T
	imports := readImports(t)
	if _, found := imports["internal/testkit"]; !found {
		t.Fatal("internal/testkit has no code: the test looks in the wrong place")
	}
	for folder, imported := range imports {
		for _, p := range imported {
			if forTests[p] && !slices.Contains(mayTest, folder) {
				t.Errorf("%s imports %s outside of its tests", folder, p)
			}
		}
	}
}

// TestNoTypeHasMoreThan25Methods: a type with more has more than one idea.
func TestNoTypeHasMoreThan25Methods(t *testing.T) {
	t.Parallel()
	const most = 25
	type named struct{ folder, name string }
	methods := map[named]int{}
	eachSource(t, 0, func(folder string, parsed *ast.File) {
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[named{folder, receiver(f.Recv.List[0].Type)}]++
			}
		}
	})
	if n := methods[named{"compaction", "CompactionSessionService"}]; n < 10 {
		t.Errorf("CompactionSessionService has %d methods only: the test looks in the wrong place", n)
	}
	for of, n := range methods {
		if n > most {
			t.Errorf("%s.%s has %d methods, more than %d: split it by idea", of.folder, of.name, n, most)
		}
	}
}

// TestRandomInputIsTheSameInEveryRun: a property test that draws input of its own makes a run fail for what another change did.
func TestRandomInputIsTheSameInEveryRun(t *testing.T) {
	t.Parallel()
	checks := map[string]int{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(file)
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		source, err := os.ReadFile(file)
		if n := strings.Count(string(source), "rapid"+".Check("); n > 0 {
			checks[filepath.ToSlash(filepath.Dir(file))] += n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if checks["internal/testkit"] != 1 {
		t.Errorf("internal/testkit calls rapid's Check %d times, want 1: the test looks in the wrong place", checks["internal/testkit"])
	}
	delete(checks, "internal/testkit")
	for folder, n := range checks {
		t.Errorf("%s calls rapid's Check %d times: call that of testkit", folder, n)
	}
}

// TestNoPanicIsDropped: a panic that ends without a trace hides our own mistakes. Package survive leaves one, and is
// the only place that may drop what its own reports panic with.
func TestNoPanicIsDropped(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		`defer func() { _ = recover() }()`: 1, `defer func() { recover() }()`: 1, `defer recover()`: 1, `go recover()`: 1,
		`defer func() { _, _ = 1, recover() }()`: 1, `defer func() { var _ = recover() }()`: 1, `defer func() { if (recover)() != nil {} ; _ = (recover()) }()`: 2,
		`defer func() { if recover() != nil { return } }()`: 1, `defer func() { if p := recover(); p != nil { panic(p) } }()`: 0,
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+source+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := droppedPanics(parsed); got != want {
			t.Errorf("%s drops %d panics, want %d", source, got, want)
		}
	}
	dropped := map[string]int{}
	eachSource(t, 0, func(folder string, parsed *ast.File) { dropped[folder] += droppedPanics(parsed) })
	if dropped["internal/survive"] != 1 {
		t.Errorf("internal/survive drops %d panics, want 1: the test looks in the wrong place", dropped["internal/survive"])
	}
	delete(dropped, "internal/survive")
	for folder, n := range dropped {
		if n > 0 && !strings.HasPrefix(folder, "examples/") {
			t.Errorf("%s drops %d panics: defer the Survive of its survive.Places instead, or survive.Else", folder, n)
		}
	}
}

// droppedPanics counts the calls of recover whose result nobody can look at, and those that are only compared.
func droppedPanics(file *ast.File) (n int) {
	recovers := func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := ast.Unparen(call.Fun).(*ast.Ident)
		return ok && name.Name == "recover"
	}
	count := func(drops bool) {
		if drops {
			n++
		}
	}
	blank := func(e ast.Expr) bool {
		name, ok := e.(*ast.Ident)
		return ok && name.Name == "_"
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch s := node.(type) {
		case *ast.ExprStmt:
			count(recovers(s.X))
		case *ast.DeferStmt:
			count(recovers(s.Call))
		case *ast.GoStmt:
			count(recovers(s.Call))
		case *ast.AssignStmt:
			for i, value := range s.Rhs {
				count(len(s.Lhs) == len(s.Rhs) && blank(s.Lhs[i]) && recovers(value))
			}
		case *ast.ValueSpec:
			for i, value := range s.Values {
				count(i < len(s.Names) && blank(s.Names[i]) && recovers(value))
			}
		case *ast.IfStmt:
			compared, ok := s.Cond.(*ast.BinaryExpr)
			count(ok && recovers(compared.X))
		}
		return true
	})
	return n
}

// receiver returns the name of a method's type, without pointer and type parameters.
func receiver(e ast.Expr) string {
	for {
		switch of := e.(type) {
		case *ast.StarExpr:
			e = of.X
		case *ast.IndexExpr:
			e = of.X
		case *ast.IndexListExpr:
			e = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// tableRow returns what a folder may import. A row may stand for all folders below one.
func tableRow(folder string) (allowed []string, known bool) {
	if allowed, known = mayImport[folder]; known {
		return allowed, true
	}
	allowed, known = mayImport[path.Dir(folder)+"/*"]
	return allowed, known
}

// readImports returns what the code of each folder imports, tests left out.
func readImports(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	eachSource(t, parser.ImportsOnly, func(folder string, parsed *ast.File) {
		if _, found := imports[folder]; !found {
			imports[folder] = []string{}
		}
		for _, spec := range parsed.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(imports[folder], p) {
				imports[folder] = append(imports[folder], p)
			}
		}
	})
	return imports
}

// eachSource calls f with every file of all modules that is not a test. Module bench, which compares this one with
// others, and hidden folders are passed over.
func eachSource(t *testing.T, mode parser.Mode, f func(folder string, parsed *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(file)
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, mode|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(filepath.Dir(file)), parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skipFolder(folder string) error {
	name := filepath.Base(folder)
	if folder != "." && (strings.HasPrefix(name, ".") || name == "testdata" || folder == "bench") {
		return filepath.SkipDir
	}
	return nil
}
