package catalog_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/internal/catalog"
)

// validName is what the Gemini API allows.
var validName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

func TestThereAre200ToolsOf15Servers(t *testing.T) {
	t.Parallel()
	tools := catalog.Tools()
	if len(tools) != 200 || len(catalog.Servers()) != 15 {
		t.Errorf("there are %d tools of %d servers, want 200 of 15", len(tools), len(catalog.Servers()))
	}
	seen := map[string]bool{}
	for _, tool := range tools {
		if seen[tool.Name] {
			t.Errorf("%s is there twice", tool.Name)
		}
		seen[tool.Name] = true
		if !validName.MatchString(tool.Name) || len(tool.Description) < 15 || tool.Schema["type"] != "object" {
			t.Errorf("%s of %s has a bad name, a short description or a schema of %v", tool.Name, tool.Server, tool.Schema["type"])
		}
		properties, ok := tool.Schema["properties"].(map[string]any)
		if !ok {
			t.Errorf("%s has no properties", tool.Name)
		}
		required, _ := tool.Schema["required"].([]any)
		for _, name := range required {
			if _, found := properties[name.(string)]; !found {
				t.Errorf("%s requires %s, which it does not have", tool.Name, name)
			}
		}
	}
	for _, server := range catalog.Servers() {
		if n := len(catalog.Of(server)); n < 8 {
			t.Errorf("%s has %d tools", server, n)
		}
	}
}

func TestToolsAreTheSameAndTheCallersOwn(t *testing.T) {
	t.Parallel()
	first := catalog.Tools()
	if diff := cmp.Diff(first, catalog.Tools()); diff != "" {
		t.Error(diff)
	}
	first[0].Schema["type"] = "changed"
	if catalog.Tools()[0].Schema["type"] != "object" {
		t.Error("a change by one caller reaches another")
	}
	if catalog.Of("nowhere") != nil {
		t.Error("an unknown server has tools")
	}
	i := slices.IndexFunc(first, func(tool catalog.Tool) bool { return tool.Name == "create_issue" })
	if d := first[i].Declaration(); d.Name != "create_issue" || d.ParametersJsonSchema == nil || d.Description != first[i].Description {
		t.Errorf("the declaration is %+v", d)
	}
}
