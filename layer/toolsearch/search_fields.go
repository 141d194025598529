package toolsearch

import (
	"maps"
	"slices"

	"google.golang.org/genai"
)

// The weights of what is known of a tool: its name says most, and the descriptions of its parameters, which
// repeat from tool to tool, say least. Twice or half as much changes the mean reciprocal rank by a point or two.
const (
	weightName        = 3.0
	weightDescription = 1.0
	weightParameter   = 0.5
	weightText        = 0.3 // descriptions and allowed values of parameters
)

const (
	// maxFieldBytes is how much of one description is indexed. Descriptions are sentences; a server that sends
	// a book is found by its beginning.
	maxFieldBytes = 4 << 10
	// maxToolBytes is how much of all that is known of one tool is indexed.
	maxToolBytes = 64 << 10
	// maxParameters is how many parameters of one tool are indexed, those of inner objects included, and how
	// many allowed values of one.
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
	var c collector
	c.add(decl.Name, weightName)
	c.add(decl.Description, weightDescription)
	schema, _ := parametersOf(decl)
	c.addSchema(schema, 0)
	return c.fields
}

// collector gathers the fields of one tool within bounds.
type collector struct {
	fields            []field
	bytes, parameters int
}

func (c *collector) add(text string, weight float64) {
	text = beginning(text, min(maxFieldBytes, maxToolBytes-c.bytes))
	if text != "" {
		c.bytes += len(text)
		c.fields = append(c.fields, field{text, weight})
	}
}

// addSchema adds the names, descriptions and allowed values of the properties of a schema, and of the
// schemas inside of it, sorted by name.
func (c *collector) addSchema(schema map[string]any, depth int) {
	if depth > maxParameterDepth {
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if c.parameters++; c.parameters > maxParameters {
			return
		}
		c.add(name, weightParameter)
		property, _ := properties[name].(map[string]any)
		text, _ := property["description"].(string)
		c.add(text, weightText)
		values, _ := property["enum"].([]any)
		for _, value := range values[:min(len(values), maxParameters)] {
			text, _ := value.(string)
			c.add(text, weightText)
		}
		c.addSchema(property, depth+1)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		c.addSchema(items, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		options, _ := schema[key].([]any)
		for _, option := range options[:min(len(options), maxParameters)] {
			inner, _ := option.(map[string]any)
			c.addSchema(inner, depth+1)
		}
	}
}
