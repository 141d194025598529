package toolsearch

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxRepairDepth is how deeply arguments are repaired. It bounds schemas that refer to themselves.
const maxRepairDepth = 32

// repair returns arguments in which values of the wrong JSON type have the type that the schema wants, where
// only one value can be meant: "5" becomes 5, "true" becomes true, an object or a list in a text becomes
// itself, and null is left out where it is not allowed. args is not changed.
func repair(schema, args map[string]any) map[string]any {
	r := repairer{root: schema}
	repaired, _ := r.value(schema, args, 0).(map[string]any)
	return repaired
}

type repairer struct{ root map[string]any }

// schema returns a schema as an object, with references followed. It is nil if there is none.
func (r repairer) schema(schema any) map[string]any {
	for range maxRepairDepth {
		s, _ := schema.(map[string]any)
		to, isRef := s["$ref"].(string)
		if !isRef {
			return s
		}
		target, found := lookUp(r.root, to)
		if !found {
			return nil
		}
		schema = target
	}
	return nil
}

// value repairs one value.
func (r repairer) value(schema, value any, depth int) any {
	s := r.schema(schema)
	if s == nil || depth > maxRepairDepth {
		return value
	}
	if text, isText := value.(string); isText {
		value = fromText(text, onlyType(s))
	}
	switch v := value.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		out := maps.Clone(v)
		for name, inner := range v {
			property, known := properties[name]
			if !known {
				continue
			}
			if inner == nil && !slices.Contains(required, any(name)) && refusesNull(r.schema(property)) {
				delete(out, name)
				continue
			}
			out[name] = r.value(property, inner, depth+1)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, inner := range v {
			out[i] = r.value(s["items"], inner, depth+1)
		}
		return out
	}
	return value
}

// onlyType returns the one type that a schema wants, apart from null; "" if several are possible.
func onlyType(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		rest := slices.DeleteFunc(slices.Clone(t), func(name any) bool { return name == "null" })
		if len(rest) == 1 {
			only, _ := rest[0].(string)
			return only
		}
	}
	return ""
}

// refusesNull reports whether a schema names its types, and null is not one of them.
func refusesNull(s map[string]any) bool {
	switch t := s["type"].(type) {
	case string:
		return t != "null"
	case []any:
		return !slices.Contains(t, any("null"))
	}
	return false
}

// fromText returns the value of a type that a text can only mean, or the text itself.
func fromText(text, wanted string) any {
	var value any
	switch wanted {
	case "integer", "number", "boolean", "object", "array":
		if json.Unmarshal([]byte(text), &value) != nil {
			return text
		}
	default:
		return text
	}
	const maxExact = 1 << 53 // larger integers lose digits as a float64
	ok := false
	switch v := value.(type) {
	case float64:
		ok = wanted == "number" || wanted == "integer" && v == float64(int64(v)) && v < maxExact && v > -maxExact
		ok = ok && text == strings.TrimSpace(text)
	case bool:
		ok = wanted == "boolean"
	case map[string]any:
		ok = wanted == "object"
	case []any:
		ok = wanted == "array"
	}
	if !ok {
		return text
	}
	return value
}

const (
	maxFaults  = 5  // faults of arguments that are named
	maxChecked = 50 // arguments that are looked at for faults
)

// faults names what is wrong with arguments, in an order that depends on nothing but them and the schema.
// It finds faults of single parameters; for others, the model has to read the schema.
func faults(schema, args map[string]any) []string {
	var out []string
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if name, isText := name.(string); isText {
			if _, given := args[name]; !given {
				out = append(out, short(name)+" is missing")
			}
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	alone := schema["additionalProperties"] == false && schema["patternProperties"] == nil
	names := slices.Sorted(maps.Keys(args))
	for _, name := range names[:min(len(names), maxChecked)] {
		property, known := properties[name]
		switch {
		case !known && alone:
			out = append(out, short(name)+" is not a parameter")
		case known && !fits(onlyProperty(schema, name, property), map[string]any{name: args[name]}):
			out = append(out, short(name)+" "+wanted(repairer{schema}.schema(property)))
		}
	}
	if len(out) > maxFaults {
		out = append(out[:maxFaults], "and more")
	}
	return out
}

// onlyProperty returns a schema that checks nothing but one property.
func onlyProperty(schema map[string]any, name string, property any) map[string]any {
	out := map[string]any{"properties": map[string]any{name: property}}
	for _, key := range []string{"$schema", "$id", "$defs", "definitions"} {
		if value, has := schema[key]; has {
			out[key] = value
		}
	}
	return out
}

// wanted says in words what a schema asks for.
func wanted(schema map[string]any) string {
	if list, ok := schema["enum"].([]any); ok && len(list) <= 20 {
		if data, err := json.Marshal(list); err == nil && len(data) <= 500 {
			return "must be one of " + string(data)
		}
	}
	if kind := onlyType(schema); kind != "" {
		return "must be a valid " + kind
	}
	return "is not valid"
}

// short quotes a name that a model or a tool has chosen.
func short(name string) string {
	const most = 64
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	return strconv.Quote(name)
}
