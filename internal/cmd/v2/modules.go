package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// language is the version of Go that ADK v2.2.0 asks for.
const language = "1.26.5"

// versions are those of the tree for ADK v2, wherever a go.mod names the module. The others are those of the source, or
// higher if these need it.
var versions = []struct{ module, version, reason string }{
	{adk + "/v2", "v2.2.0", "the release that the tests run against"},
	{ours + "/v2", "v2.0.0", "a placeholder, which a replace fills: a path that ends in /v2 has no v0.0.0"},
	{"google.golang.org/genai", "v1.66.0", "ADK's own: its signatures have these types"},
	{"github.com/a2aproject/a2a-go/v2", "v2.4.0", "ADK's own: its A2A client takes these types"},
	{"github.com/modelcontextprotocol/go-sdk", "v1.7.0", "ADK's own: its MCP toolset takes these transports"},
	{"github.com/achetronic/adk-utils-go", "v1.1.0", "the only one for ADK v2 that asks for no release after v2.2.0"},
	{"go.opentelemetry.io/otel", "v1.44.0", "ADK's own: it does not compile with the logs of v1.45.0"},
	{"go.opentelemetry.io/otel/metric", "v1.44.0", "released with otel"},
	{"go.opentelemetry.io/otel/trace", "v1.44.0", "released with otel"},
	{"go.opentelemetry.io/otel/sdk", "v1.44.0", "released with otel"},
	{"go.opentelemetry.io/otel/sdk/metric", "v1.44.0", "released with otel"},
	{"go.opentelemetry.io/otel/exporters/otlp/otlptrace", "v1.44.0", "released with otel"},
	{"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", "v1.44.0", "released with otel"},
	{"go.opentelemetry.io/otel/exporters/prometheus", "v0.66.0", "released with otel"},
	{"go.opentelemetry.io/otel/log", "v0.20.0", "ADK's own: v0.21.0 has lost what it calls"},
	{"go.opentelemetry.io/otel/sdk/log", "v0.20.0", "released with otel/log"},
	{"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp", "v0.20.0", "released with otel/log"},
	{"go.opentelemetry.io/contrib/detectors/gcp", "v1.44.0", "ADK's own: v1.45.0 asks for otel v1.45.0"},
}

var (
	goLine      = regexp.MustCompile(`(?m)^go \S+$`)
	requirement = regexp.MustCompile(`(?m)^(\t|require )(\S+) (v\S+)`)
)

// withVersions returns a go.mod or go.work with the versions of the tables.
func withVersions(text string) string {
	text = goLine.ReplaceAllString(text, "go "+language)
	return requirement.ReplaceAllStringFunc(text, func(line string) string {
		m := requirement.FindStringSubmatch(line)
		for _, v := range versions {
			if v.module == m[2] {
				return m[1] + m[2] + " " + v.version
			}
		}
		return line
	})
}

// tidy completes the go.mod, go.sum and go.work.sum of a tree, and holds the versions to the table.
func tidy(tree string) error {
	work, err := os.ReadFile(filepath.Join(tree, "go.work"))
	if err != nil {
		return err
	}
	folders := regexp.MustCompile(`(?m)^\t(\.\S*)$`).FindAllStringSubmatch(string(work), -1)
	if len(folders) == 0 {
		return fmt.Errorf("%s names no module", filepath.Join(tree, "go.work"))
	}
	for _, m := range folders {
		folder := filepath.Join(tree, filepath.FromSlash(m[1]))
		if err := goCommand(folder, "off", "mod", "tidy"); err != nil {
			return err
		}
		mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil {
			return err
		}
		if held := withVersions(string(mod)); held != string(mod) {
			return fmt.Errorf("go mod tidy has raised a version of the table in %s: ask go mod graph for what requires it, and give that a row", path.Join(m[1], "go.mod"))
		}
	}
	// What only the workspace needs is added to go.work.sum by whatever command loads it.
	if err := os.RemoveAll(filepath.Join(tree, "go.work.sum")); err != nil {
		return err
	}
	return goCommand(tree, "", "list", "-deps", "-test", "work")
}

// goCommand runs the go command in a folder, in the workspace there or in none.
func goCommand(folder, workspace string, args ...string) error {
	command := exec.Command("go", args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOWORK="+workspace, "PWD="+folder)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), folder, err, out)
	}
	return nil
}
