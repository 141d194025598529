package toolsearch

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/survive"
)

const (
	// maxSchemaDepth is how deeply the parameters of a tool may nest, in schemas within schemas. It is far
	// deeper than any that a model could fill in, and stops one that contains itself.
	maxSchemaDepth = 64
	// maxSchemas is how many schemas the parameters of a tool may have.
	maxSchemas = 20_000
)

// parametersOf returns the parameters of a declaration as a JSON Schema, whatever type the tool has declared
// them with: genai.Schema, *jsonschema.Schema, or any other that encodes to JSON. It is nil if none are
// declared. It reports false if they cannot be read, for example because a schema contains itself.
//
// The result belongs to the caller.
func parametersOf(decl *genai.FunctionDeclaration) (schema map[string]any, ok bool) {
	defer survive.Else("toolsearch: the parameters of a tool", func() { schema, ok = nil, false }) // an encoder of the app's
	switch {
	case decl == nil:
		return nil, true
	case decl.Parameters != nil:
		count := 0
		return fromGenai(decl.Parameters, 0, &count)
	case decl.ParametersJsonSchema == nil:
		return nil, true
	}
	switch s := decl.ParametersJsonSchema.(type) {
	case *jsonschema.Schema:
		if !isFinite(s) {
			return nil, false // its encoder would recurse for ever
		}
	case jsonschema.Schema:
		if !isFinite(&s) {
			return nil, false
		}
	}
	data, err := json.Marshal(decl.ParametersJsonSchema)
	if err != nil {
		return nil, false
	}
	var decoded any
	if json.Unmarshal(data, &decoded) != nil {
		return nil, false
	}
	switch v := decoded.(type) {
	case nil:
		return nil, true
	case bool:
		return nil, v // true accepts everything, as no schema does
	case map[string]any:
		return v, true
	}
	return nil, false
}

// fromGenai returns a schema of Google's dialect as a JSON Schema. The two differ in the names of types, in
// nullable values, and in keywords that only tell a model what to write.
func fromGenai(s *genai.Schema, depth int, count *int) (map[string]any, bool) {
	if *count++; depth > maxSchemaDepth || *count > maxSchemas {
		return nil, false
	}
	out := map[string]any{}
	put := func(key string, value any) {
		if v := reflect.ValueOf(value); v.IsZero() {
			return
		} else if v.Kind() == reflect.Pointer {
			value = v.Elem().Interface()
		}
		out[key] = value
	}
	put("title", s.Title)
	put("description", s.Description)
	put("pattern", s.Pattern)
	put("format", s.Format)
	put("minimum", s.Minimum)
	put("maximum", s.Maximum)
	for key, n := range map[string]*int64{
		"minItems": s.MinItems, "maxItems": s.MaxItems, "minLength": s.MinLength, "maxLength": s.MaxLength,
		"minProperties": s.MinProperties, "maxProperties": s.MaxProperties,
	} {
		if n != nil {
			out[key] = float64(*n)
		}
	}
	if s.Default != nil {
		out["default"] = s.Default
	}
	nullable := s.Nullable != nil && *s.Nullable
	if kind := strings.ToLower(string(s.Type)); kind != "" && s.Type != genai.TypeUnspecified {
		out["type"] = kind
		if nullable && s.Type != genai.TypeNULL {
			out["type"] = []any{kind, "null"}
		}
	}
	if len(s.Enum) > 0 && s.Type != genai.TypeInteger && s.Type != genai.TypeNumber { // numbers are listed as strings there
		values := texts(s.Enum)
		if nullable {
			values = append(values, nil)
		}
		out["enum"] = values
	}
	if len(s.Required) > 0 {
		out["required"] = texts(s.Required)
	}
	ok := true
	convert := func(s *genai.Schema) any {
		if s == nil {
			return map[string]any{}
		}
		converted, fine := fromGenai(s, depth+1, count)
		ok = ok && fine
		return converted
	}
	if s.Items != nil {
		out["items"] = convert(s.Items)
	}
	if len(s.AnyOf) > 0 {
		var options []any
		for _, option := range s.AnyOf {
			options = append(options, convert(option))
		}
		out["anyOf"] = options
	}
	if len(s.Properties) > 0 {
		properties := make(map[string]any, len(s.Properties))
		for name, property := range s.Properties {
			properties[name] = convert(property)
		}
		out["properties"] = properties
	}
	return out, ok
}

func texts(list []string) []any {
	out := make([]any, 0, len(list)+1)
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

var (
	schemaType  = reflect.TypeFor[*jsonschema.Schema]()
	schemaSlice = reflect.TypeFor[[]*jsonschema.Schema]()
	schemaMap   = reflect.TypeFor[map[string]*jsonschema.Schema]()
	// schemaFields are the fields of a schema that hold schemas.
	schemaFields = slices.DeleteFunc(reflect.VisibleFields(schemaType.Elem()), func(f reflect.StructField) bool {
		return f.Type != schemaType && f.Type != schemaSlice && f.Type != schemaMap
	})
)

// isFinite reports whether a schema is a tree of reasonable size.
func isFinite(root *jsonschema.Schema) bool {
	count := 0
	var walk func(s *jsonschema.Schema, depth int) bool
	walk = func(s *jsonschema.Schema, depth int) bool {
		if s == nil {
			return true
		}
		if count++; depth > maxSchemaDepth || count > maxSchemas {
			return false
		}
		v := reflect.ValueOf(s).Elem()
		for _, f := range schemaFields {
			switch field := v.FieldByIndex(f.Index).Interface().(type) {
			case *jsonschema.Schema:
				if !walk(field, depth+1) {
					return false
				}
			case []*jsonschema.Schema:
				for _, s := range field {
					if !walk(s, depth+1) {
						return false
					}
				}
			case map[string]*jsonschema.Schema:
				for _, s := range field {
					if !walk(s, depth+1) {
						return false
					}
				}
			}
		}
		return true
	}
	return walk(root, 0)
}
