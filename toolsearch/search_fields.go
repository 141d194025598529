package toolsearch

import (
	"maps"
	"slices"

	"google.golang.org/genai"
)

// The weights of what is known of a tool: its name says most, and the descriptions of its parameters, which
// repeat from tool to tool, say least.
var (
	weightName        = 3.0
	weightDescription = 1.0
	weightParameter   = 1.0
	weightText        = 0.3 // descriptions and allowed values of parameters
)

const (
	// maxFieldBytes is how much of one description is indexed. Descriptions are sentences; a server that sends
	// a book is found by its beginning.
	maxFieldBytes = 4 << 10
	// maxParameters is how many parameters of one tool are indexed, those of inner objects included.
	maxParameters = 500
	// maxParameterDepth is how deep inner objects are indexed.
	maxParameterDepth = 8
)

// field is a text about a tool, and how much its terms count.
type field struct {
	text   string
	weight float64
}

// fieldsOf returns what a tool is found by. A schema that cannot be read is left out.
func fieldsOf(decl *genai.FunctionDeclaration) []field {
	fields := []field{{decl.Name, weightName}, {beginning(decl.Description, maxFieldBytes), weightDescription}}
	schema, _ := parametersOf(decl)
	left := maxParameters
	return appendParameters(fields, schema, &left, 0)
}

// appendParameters appends the names and descriptions of the properties of a schema, and of the schemas
// inside of it, sorted by name.
func appendParameters(fields []field, schema map[string]any, left *int, depth int) []field {
	if depth > maxParameterDepth {
		return fields
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if *left--; *left < 0 {
			return fields
		}
		fields = append(fields, field{beginning(name, maxFieldBytes), weightParameter})
		property, _ := properties[name].(map[string]any)
		if text, _ := property["description"].(string); text != "" {
			fields = append(fields, field{beginning(text, maxFieldBytes), weightText})
		}
		values, _ := property["enum"].([]any)
		for _, value := range values[:min(len(values), maxParameters)] {
			if text, _ := value.(string); text != "" {
				fields = append(fields, field{beginning(text, maxName), weightText})
			}
		}
		fields = appendParameters(fields, property, left, depth+1)
	}
	if items, _ := schema["items"].(map[string]any); items != nil {
		fields = appendParameters(fields, items, left, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		options, _ := schema[key].([]any)
		for _, option := range options[:min(len(options), maxParameters)] {
			if inner, _ := option.(map[string]any); inner != nil {
				fields = appendParameters(fields, inner, left, depth+1)
			}
		}
	}
	return fields
}
