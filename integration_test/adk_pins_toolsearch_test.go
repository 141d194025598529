package integration_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/skilltoolset"
	"google.golang.org/adk/tool/skilltoolset/skill"
)

// fixedTools is a toolset of tools that never change.
type fixedTools []tool.Tool

func (fixedTools) Name() string                                       { return "fixed" }
func (f fixedTools) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return f, nil }

// The category of such tools therefore follows from their types.
func TestPinTheTypesOfADKsTools(t *testing.T) {
	t.Parallel()
	const adkTools = "google.golang.org/adk/tool"
	skills, err := skilltoolset.New(t.Context(), skilltoolset.Config{Source: skill.NewFileSystemSource(fstest.MapFS{})})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := skills.Tools(nil)
	if err != nil || len(tools) == 0 {
		t.Fatal(err)
	}
	for _, of := range tools {
		if name := reflect.TypeOf(of).Elem().Name(); !strings.Contains(name, "["+adkTools+"/skilltoolset") {
			t.Errorf("the type of %s is named %s", of.Name(), name)
		}
	}
	wrapped, err := tool.WithConfirmation(fixedTools(tools[:1]), true, nil).Tools(nil)
	if err != nil {
		t.Fatal(err)
	}
	wrapper := reflect.ValueOf(wrapped[0]).Elem()
	if path := wrapper.Type().PkgPath(); path != adkTools {
		t.Errorf("the type of a tool behind a confirmation is from %s", path)
	}
	if inner := wrapper.FieldByName("runnableTool"); !inner.IsValid() || inner.Elem().Type() != reflect.TypeOf(tools[0]) {
		t.Errorf("a tool behind a confirmation is not in the field runnableTool of %s", wrapper.Type())
	}
}
