package toolsearch

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
)

// labeled is a tool with a category of its own.
type labeled struct {
	tool.Tool
	category Category
}

func (l *labeled) Category() Category { return l.category }

// boxed has a category that only its field shows, as a tool of a Group has inside of ADK's wrapper.
type boxed struct {
	tool.Tool
	category Category
}

func plainTool(t *testing.T, name string) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "Looks up " + name + "."},
		func(agent.ToolContext, struct{}) (map[string]any, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTheConfigDecidesTheCategoryThenTheToolThenItsType(t *testing.T) {
	t.Parallel()
	plain := plainTool(t, "plain")
	for name, of := range map[string]struct {
		cfg  Config
		tool tool.Tool
		want Category
	}{
		"a function tool":                {Config{}, plain, BuiltIn},
		"a tool with a category":         {Config{}, &labeled{plain, MCP}, MCP},
		"a tool in a box":                {Config{}, &boxed{plain, Skill}, Skill},
		"a category that does not exist": {Config{}, &labeled{plain, "custom"}, BuiltIn},
		"the config's":                   {Config{Category: func(tool.Tool) Category { return Skill }}, &labeled{plain, MCP}, Skill},
		"unknown to the config":          {Config{Category: func(tool.Tool) Category { return "" }}, &labeled{plain, MCP}, MCP},
		"a panic":                        {Config{Category: func(tool.Tool) Category { panic("no") }}, &labeled{plain, MCP}, BuiltIn},
		"nil":                            {Config{}, nil, BuiltIn},
		"a nil pointer":                  {Config{}, (*labeled)(nil), BuiltIn},
		"a nil box":                      {Config{}, (*boxed)(nil), BuiltIn},
	} {
		if got := of.cfg.categoryOf(of.tool); got != of.want {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}

// set is a toolset of fixed tools.
type set []tool.Tool

func (set) Name() string                                       { return "set" }
func (s set) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return s, nil }

// declared makes a box a tool that ADK's wrapper takes in.
type declared struct {
	tool.Tool
	category Category
}

func (*declared) Declaration() *genai.FunctionDeclaration { return nil }

func (*declared) Run(agent.ToolContext, any) (map[string]any, error) { return nil, nil }

func TestACategoryIsFoundBehindAConfirmation(t *testing.T) {
	t.Parallel()
	for _, want := range []Category{MCP, Skill, BuiltIn} {
		var of tool.Tool = &declared{plainTool(t, "plain"), want}
		for range 3 {
			wrapped, err := tool.WithConfirmation(set{of}, true, nil).Tools(nil)
			if err != nil {
				t.Fatal(err)
			}
			if wrapped[0] == of {
				t.Fatal("ADK has not wrapped the tool")
			}
			of = wrapped[0]
		}
		if got := (&Config{}).categoryOf(of); got != want {
			t.Errorf("behind three confirmations the category is %q, want %q", got, want)
		}
	}
}
