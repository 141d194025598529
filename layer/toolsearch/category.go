package toolsearch

import (
	"reflect"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/survive"
)

// Category says where a tool comes from, which decides whether and when it is deferred.
type Category string

// The categories, in the order in which their tools are deferred. Any other value means BuiltIn.
const (
	// MCP is for tools of MCP servers. They are deferred first.
	MCP Category = "mcp"
	// Skill is for tools of skills. They are deferred if the declarations without MCP tools are still over
	// the threshold.
	Skill Category = "skill"
	// BuiltIn is for tools of the app itself, and is the category of every tool that nobody categorizes.
	// They are never deferred.
	BuiltIn Category = "built-in"
)

// Categorized is implemented by tools that know their category.
type Categorized interface {
	Category() Category
}

// entry is one deferred tool.
type entry struct {
	tool     tool.Tool
	decl     *genai.FunctionDeclaration // as the agent declares it; shared, and never changed
	category Category
}

// The packages of ADK whose tools are recognized without help.
const (
	adkTools      = "google.golang.org/adk/tool"
	adkMCPTools   = adkTools + "/mcptoolset"
	adkSkillTools = adkTools + "/skilltoolset"
)

// categoryOf returns the category of a tool. The config decides first, then the tool itself, then its type.
func (c *Config) categoryOf(t tool.Tool) (category Category) {
	defer survive.Else("toolsearch: Config.Category", func() { category = BuiltIn }) // the app's function, or its tool
	if c.Category != nil {
		category = c.Category(t)
	}
	if category == "" {
		if known, ok := t.(Categorized); ok {
			category = known.Category()
		} else {
			category = categoryOfValue(reflect.ValueOf(t))
		}
	}
	if category != MCP && category != Skill {
		return BuiltIn
	}
	return category
}

// maxWrappers bounds how many of ADK's wrappers around a tool are looked through.
const maxWrappers = 8

// categoryOfValue returns the category that follows from the type of a tool. It looks through the wrapper
// that asks for confirmations, which is unexported and hides the methods of the tool inside: see
// TestPinTheTypesOfADKsTools.
func categoryOfValue(v reflect.Value) Category {
	for range maxWrappers {
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem().PkgPath() == adkTools {
			v = v.Elem()
		}
		if !v.IsValid() {
			return BuiltIn
		}
		if v.Kind() != reflect.Struct || v.Type().PkgPath() != adkTools {
			return categoryOfType(v)
		}
		inner := v.FieldByName("runnableTool")
		if !inner.IsValid() {
			return BuiltIn
		}
		v = inner
	}
	return BuiltIn
}

// categoryOfType returns the category of a tool of that type.
func categoryOfType(v reflect.Value) Category {
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		v, t = v.Elem(), t.Elem()
	}
	if t.Kind() == reflect.Struct && v.IsValid() && t.PkgPath() == ownPath {
		if category := v.FieldByName("category"); category.IsValid() && category.Kind() == reflect.String {
			return Category(category.String()) // a tool of a Group inside of ADK's wrapper
		}
	}
	switch {
	case t.PkgPath() == adkMCPTools:
		return MCP
	case strings.HasPrefix(t.PkgPath(), adkSkillTools), strings.Contains(t.Name(), "["+adkSkillTools):
		return Skill // a function tool over types of the skill toolset
	}
	return BuiltIn
}

// ownPath is the path of this package.
var ownPath = reflect.TypeFor[entry]().PkgPath()
