package longsession_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// workspace returns the folders of the modules that go.work names, the root's as ".".
func workspace(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+)$`).FindAllStringSubmatch(read(t, "go.work"), -1) {
		folders = append(folders, path.Clean(m[1]))
	}
	if len(folders) < 5 || folders[0] != "." {
		t.Fatalf("go.work names %q: the test reads wrongly", folders)
	}
	return folders
}

// requirements returns what the go.mod of a folder requires, by module: first what its packages import, then the rest.
func requirements(t *testing.T, folder string) (direct, indirect map[string]string) {
	t.Helper()
	direct, indirect = map[string]string{}, map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)( // indirect)?$`).FindAllStringSubmatch(read(t, path.Join(folder, "go.mod")), -1) {
		required := direct
		if m[3] != "" {
			required = indirect
		}
		required[m[1]] = m[2]
	}
	if len(direct) < 5 {
		t.Fatalf("%d direct requirements found in the go.mod of %s: the test reads wrongly", len(direct), folder)
	}
	return direct, indirect
}

// TestEveryModuleIsInTheWorkspace: "go test work" runs the tests of the modules in go.work, and of no other.
func TestEveryModuleIsInTheWorkspace(t *testing.T) {
	t.Parallel()
	var found []string
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "go.mod" && !strings.Contains(file, "testdata") {
			found = append(found, path.Dir(filepath.ToSlash(file)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if named := workspace(t); !slices.Equal(slices.Sorted(slices.Values(named)), slices.Sorted(slices.Values(found))) {
		t.Errorf("go.work names the modules %q, and there are %q", named, found)
	}
}

// TestDirectRequirementsComeFirst: each go.mod has one block of direct modules, then one of indirect ones. "go mod tidy"
// keeps blocks apart, and puts a module wherever one of its neighbors is.
func TestDirectRequirementsComeFirst(t *testing.T) {
	t.Parallel()
	for _, folder := range workspace(t) {
		blocks := strings.Split(read(t, path.Join(folder, "go.mod")), "require (")[1:]
		if len(blocks) != 2 {
			t.Errorf("the go.mod of %s has %d require blocks, want one of direct modules and one of indirect ones", folder, len(blocks))
			continue
		}
		if strings.Contains(blocks[0], "// indirect") {
			t.Errorf("the first block of the go.mod of %s names an indirect module", folder)
		}
		for line := range strings.Lines(blocks[1]) {
			if strings.Contains(line, " v") && !strings.Contains(line, "=>") && !strings.Contains(line, "// indirect") {
				t.Errorf("the second block of the go.mod of %s names a direct module: %s", folder, strings.TrimSpace(line))
			}
		}
	}
}

// reasons returns the modules that a table of ARCHITECTURE.md gives reasons for.
func reasons(t *testing.T, heading string) []string {
	t.Helper()
	_, part, found := strings.Cut(read(t, "ARCHITECTURE.md"), "\n### "+heading+"\n")
	if !found {
		t.Fatalf("ARCHITECTURE.md has no part %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	part, _, _ = strings.Cut(part, "\n### ")
	var modules []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ").FindAllStringSubmatch(part, -1) {
		modules = append(modules, m[1])
	}
	return modules
}

// TestRequirementsHaveReasons: a new requirement is a reviewed line in ARCHITECTURE.md, and the library's own are the
// fewest. What bench compares with is none of ours.
func TestRequirementsHaveReasons(t *testing.T) {
	t.Parallel()
	library, others := reasons(t, "The library"), reasons(t, "The other modules")
	direct, _ := requirements(t, ".")
	for required := range direct {
		if !slices.Contains(library, required) {
			t.Errorf("ARCHITECTURE.md gives no reason why the library requires `%s`", required)
		}
	}
	for _, given := range library {
		if direct[given] == "" {
			t.Errorf("ARCHITECTURE.md gives a reason why the library requires `%s`, and it does not", given)
		}
	}
	required := map[string]bool{}
	for _, folder := range workspace(t)[1:] {
		if folder == "bench" {
			continue
		}
		direct, _ := requirements(t, folder)
		for name := range direct {
			required[name] = true
			if name != module && !strings.HasPrefix(name, module+"/") && !slices.Contains(library, name) && !slices.Contains(others, name) {
				t.Errorf("ARCHITECTURE.md gives no reason why %s requires `%s`", folder, name)
			}
		}
	}
	for _, given := range others {
		if !required[given] || slices.Contains(library, given) {
			t.Errorf("ARCHITECTURE.md says that only modules other than the library require `%s`: that is not so", given)
		}
	}
}

// TestModulesAgreeOnVersions: what the workspace tests is what each module requires.
func TestModulesAgreeOnVersions(t *testing.T) {
	t.Parallel()
	versions := map[string]string{}
	for _, folder := range workspace(t) {
		direct, indirect := requirements(t, folder)
		for _, required := range []map[string]string{direct, indirect} {
			for name, version := range required {
				if known := versions[name]; known != "" && known != version {
					t.Errorf("%s requires %s %s, and another module %s", folder, name, version, known)
				}
				versions[name] = version
			}
		}
	}
}

// TestAnAppKeepsItsOwnVersions: a requirement of the library raises that of every app that imports any package of it. The
// versions of gorm and its like are the app's to choose; gorm itself is in ADK's go.mod, and must be ADK's version here.
func TestAnAppKeepsItsOwnVersions(t *testing.T) {
	t.Parallel()
	free := []string{"github.com/jackc/pgx/v5", "github.com/pelletier/go-toml/v2", "github.com/gofrs/flock", "gorm.io/driver/postgres", "gorm.io/driver/mysql"}
	all := func(folder string) map[string]string {
		direct, indirect := requirements(t, folder)
		for name, version := range indirect {
			direct[name] = version
		}
		return direct
	}
	library, control := all("."), all("cmd/longsession")
	for name, version := range all("integration_test") {
		control[name] = version
	}
	for _, name := range free {
		if library[name] != "" {
			t.Errorf("the library requires %s %s, so an app with an older one would be raised", name, library[name])
		}
		if control[name] == "" {
			t.Errorf("neither the command nor the tests require %s: the test reads wrongly", name)
		}
	}
	adk := goList(t, "-m", "-f", "{{.GoMod}}", "google.golang.org/adk")
	if !strings.Contains(read(t, adk), "gorm.io/gorm "+library["gorm.io/gorm"]) {
		t.Errorf("the library requires gorm %s, and ADK another", library["gorm.io/gorm"])
	}
}

// TestAnAppCompilesFewNewModules: what ADK does not require, and an app gets that imports the front door or the core.
func TestAnAppCompilesFewNewModules(t *testing.T) {
	t.Parallel()
	known := read(t, goList(t, "-m", "-f", "{{.GoMod}}", "google.golang.org/adk"))
	for _, imported := range []string{".", "./compaction"} {
		var added []string
		for _, of := range strings.Fields(goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", imported)) {
			if of != module && of != "google.golang.org/adk" && !slices.Contains(added, of) && !strings.Contains(known, of+" v") {
				added = append(added, of)
			}
		}
		want := []string{"github.com/agnivade/levenshtein", "github.com/kljensen/snowball"}
		if slices.Sort(added); !slices.Equal(added, want) {
			t.Errorf("%s adds the modules %q to those of an ADK app, want %q", imported, added, want)
		}
	}
}

// goList runs "go list" for the root's module.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	list := exec.Command("go", append([]string{"list"}, args...)...)
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
