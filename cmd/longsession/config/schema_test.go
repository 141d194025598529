package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
)

// schema writes the tables of docs/settings.md: one for each table of a file, with a row for each key.
func schema() string {
	var out strings.Builder
	var order []string
	rows := map[string][]config.Key{}
	for _, key := range config.Keys() {
		table := key.Name[:strings.LastIndexByte(key.Name, '.')]
		if rows[table] == nil {
			order = append(order, table)
		}
		rows[table] = append(rows[table], key)
	}
	for _, table := range order {
		fmt.Fprintf(&out, "### `[%s]`\n\n| key | value | default | flag, variable | what it does | field |\n|---|---|---|---|---|---|\n", table)
		for _, k := range rows[table] {
			name := strings.TrimPrefix(k.Name, table+".")
			if k.SameAs != "" {
				fmt.Fprintf(&out, "| `%s` | %s | | | the same as `%s` | |\n", name, k.Kind, k.SameAs)
				continue
			}
			field := k.Effect
			if !strings.HasPrefix(field, "(") {
				field = "`" + strings.ReplaceAll(field, ", ", "`, `") + "`"
			}
			help := k.Help
			if k.Negated {
				help = "false: " + help
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s | `--%s`, `%s` | %s | %s |\n", name, k.Kind, k.Default, k.Flag, k.Environment(), help, strings.Trim(field, "()"))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// To write it again: UPDATE_SETTINGS=1 go test ./config -run TestTheSchemaIsUpToDate
func TestTheSchemaIsUpToDate(t *testing.T) {
	const file, begin, end = "../../../docs/settings.md", "<!-- begin of the keys -->\n", "<!-- end of the keys -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no %q and %q", file, begin, end)
	}
	want := "\n" + schema()
	if got == want {
		return
	}
	if os.Getenv("UPDATE_SETTINGS") != "" {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not list the keys as they are: run UPDATE_SETTINGS=1 go test ./config -run TestTheSchemaIsUpToDate", file)
}

func TestTheFilesInTheDocumentsAreFine(t *testing.T) {
	blocks := 0
	for _, name := range []string{"../../../docs/settings.md"} {
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			blocks++
			v, err := config.Parse(name, []byte(block[1]))
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, block[1])
				continue
			}
			s, err := config.Resolve(config.In{File: v})
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, block[1])
				continue
			}
			if err := s.Check(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, block[1])
			}
		}
	}
	if blocks < 2 {
		t.Errorf("%d files found only: the test looks in the wrong place", blocks)
	}
}
