package main

import (
	"strings"
	"testing"
)

// named stands for the modules in texts, which would not be the same in both trees otherwise.
var named = strings.NewReplacer("ADK", adk, "OURS", ours)

func TestPathsEndInTheirMajorAndAddressesStay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`import "ADK/session"`:                        `import "ADK/v2/session"`,
		`import "OURS"`:                               `import "OURS/v2"`,
		`scope = "OURS/layer/recall" // ADK's`:        `scope = "OURS/v2/layer/recall" // ADK/v2's`,
		"// Package [OURS/replay/conversation] reads": "// Package [OURS/v2/replay/conversation] reads",
		"[ADK/session.ErrNotFound].":                  "[ADK/v2/session.ErrNotFound].",
		"It extends ADK.":                             "It extends ADK/v2.",
		"It extends ADK":                              "It extends ADK/v2",
		"ADK, OURS; ADK and OURS\nADK":                "ADK/v2, OURS/v2; ADK/v2 and OURS/v2\nADK/v2",
		"| `ADK` | all |":                             "| `ADK/v2` | all |",
		"module OURS/cmd/longsession":                 "module OURS/v2/cmd/longsession",
		"\tOURS => ..":                                "\tOURS/v2 => ..",
		"go install OURS/cmd/longsession@latest":      "go install OURS/v2/cmd/longsession@latest",
		"go install OURS/cmd/longsession@v1.2.3":      "go install OURS/v2/cmd/longsession@v1.2.3",
		"go get OURS@latest":                          "go get OURS/v2@latest",
		"https://pkg.go.dev/OURS/compaction":          "https://pkg.go.dev/OURS/v2/compaction",
		"-ldflags=-X=OURS/internal.v=1":               "-ldflags=-X=OURS/v2/internal.v=1",

		// Of another major already, or of the first one.
		"ADK/v2 and ADK/v2/session": "ADK/v2 and ADK/v2/session",
		"under `OURS/v2`.":          "under `OURS/v2`.",
		"ADK/v2.":                   "ADK/v2.",
		"ADK/v2@v2.2.0":             "ADK/v2@v2.2.0",
		"ADK@v1.7.0":                "ADK@v1.7.0",
		"OURS@v0.3.0":               "OURS@v0.3.0",
		"ADK@v1beta":                "ADK/v2@v1beta",
		"ADK/v20 and ADK/v2x":       "ADK/v2/v20 and ADK/v2/v2x",
		"ADK/v2.go":                 "ADK/v2/v2.go",

		// Addresses and other names.
		"https://OURS/blob/main/README.md":       "https://OURS/blob/main/README.md",
		"git clone https://OURS":                 "git clone https://OURS",
		"git clone https://OURS.git":             "git clone https://OURS.git",
		"ssh://git@OURS":                         "ssh://git@OURS",
		"git clone git@github.com:adk-go-ext/x":  "git clone git@github.com:adk-go-ext/x",
		"OURS.git":                               "OURS.git",
		"OURS-examples and ADK_x and ADKx":       "OURS-examples and ADK_x and ADKx",
		"my.ADK and my-ADK and xADK":             "my.ADK and my-ADK and xADK",
		"https://github.com/google/adk-go":       "https://github.com/google/adk-go",
		"[layout_test.go](../longsession/v1.go)": "[layout_test.go](../longsession/v1.go)",
		"":                                       "",
	} {
		text, want = named.Replace(text), named.Replace(want)
		got := withPaths(text)
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if again := withPaths(got); again != got {
			t.Errorf("%q becomes %q the second time", got, again)
		}
	}
}

func TestNamesAreThoseOfTheMajor(t *testing.T) {
	t.Parallel()
	tool, callback, event := "agent."+"ToolContext", "agent."+"CallbackContext", "session."+"NewEventWithContext"
	for text, want := range map[string]string{
		"func(ctx " + tool + ", in T)":    "func(ctx agent.Context, in T)",
		"[" + callback + "]":              "[agent.Context]",
		event + "(ctx, id)":               "session.NewEvent(ctx, id)",
		"my" + tool + " " + tool + "Mock": "my" + tool + " " + tool + "Mock",
		"adk.ToolContext":                 "adk.ToolContext",
	} {
		if got := withNames(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestModulesGetTheVersionsOfTheTableAndKeepTheRest(t *testing.T) {
	t.Parallel()
	mod := named.Replace("module OURS/v2/bench\n\ngo 1.25.5\n\nrequire (\n\tOURS/v2 v0.0.0\n\tOURS/v2/cmd/longsession v0.0.0\n\tADK/v2 v1.7.0\n" +
		"\tgo.opentelemetry.io/otel/log v0.21.0 // indirect\n\tgo.opentelemetry.io/auto/sdk v1.2.1 // indirect\n)\n\nreplace OURS/v2 => ../\n")
	want := named.Replace("module OURS/v2/bench\n\ngo 1.26.5\n\nrequire (\n\tOURS/v2 v2.0.0\n\tOURS/v2/cmd/longsession v0.0.0\n\tADK/v2 v2.2.0\n" +
		"\tgo.opentelemetry.io/otel/log v0.20.0 // indirect\n\tgo.opentelemetry.io/auto/sdk v1.2.1 // indirect\n)\n\nreplace OURS/v2 => ../\n")
	if got := withVersions(mod); got != want {
		t.Errorf("go.mod becomes\n%s\nwant\n%s", got, want)
	}
	if got := withVersions(want); got != want {
		t.Errorf("go.mod becomes another the second time:\n%s", got)
	}
	if got, want := withVersions("go 1.25.5\n\nuse (\n\t.\n)\n"), "go 1.26.5\n\nuse (\n\t.\n)\n"; got != want {
		t.Errorf("go.work becomes %q, want %q", got, want)
	}
	seen := map[string]bool{}
	for _, v := range versions {
		if v.reason == "" || seen[v.module] {
			t.Errorf("%s is in the table twice, or without a reason", v.module)
		}
		seen[v.module] = true
	}
}
