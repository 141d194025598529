package toolsearch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adk-go-ext/longsession/internal/survive"
)

// validate returns what is wrong with arguments by a schema, nil if they are valid. A schema that cannot be applied
// accepts everything: the tool then judges its arguments itself. Such are schemas that refer to other documents, that
// have patterns unknown to Go, or that would take too long.
func validate(schema, args map[string]any) (wrong error) {
	defer survive.Else("toolsearch: arguments against a schema", func() { wrong = nil }) // the library, at a schema that it does not foresee
	if schema == nil || !isCheap(schema, args) {
		return nil
	}
	whole := compile(schema)
	if wrong = whole.apply(args); wrong == nil {
		return nil
	}
	// The library stops at any one thing that is wrong. So what concerns all arguments is judged first, and then each by itself.
	all, each := maps.Clone(schema), map[string]any{}
	for _, key := range []string{"$schema", "$defs", "definitions", "properties", "patternProperties", "additionalProperties", "propertyNames"} {
		if value, has := schema[key]; has {
			each[key] = value
		}
	}
	for _, key := range []string{"properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"} {
		delete(all, key)
	}
	problems, one := []error{compile(all).apply(args)}, compile(each)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if err := one.apply(map[string]any{name: args[name]}); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", short(name), err))
		}
	}
	return cmp.Or(errors.Join(problems...), wrong)
}

// compiled is a schema that can be applied. The zero value accepts everything.
type compiled struct{ schema *jsonschema.Resolved }

// compile returns the zero value for a schema that cannot be applied.
func compile(schema map[string]any) compiled {
	data, err := json.Marshal(schema)
	if err != nil {
		return compiled{}
	}
	var parsed jsonschema.Schema
	if json.Unmarshal(data, &parsed) != nil {
		return compiled{}
	}
	if !strings.Contains(parsed.Schema, "draft-07") {
		parsed.Schema = "" // the newest draft, which contains most of what older ones have
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return compiled{}
	}
	return compiled{resolved}
}

// apply returns the first thing that is wrong with arguments.
func (c compiled) apply(args map[string]any) error {
	if c.schema == nil {
		return nil
	}
	wrong := c.schema.Validate(args)
	if wrong == nil {
		return nil
	}
	// The library names all schemas around the one that refuses. That one is enough, and only inside of an argument.
	place, cause := "", strings.ReplaceAll(wrong.Error(), "<invalid reflect.Value>", "null")
	for {
		around, inner, more := strings.Cut(cause, ": ")
		path, is := strings.CutPrefix(around, "validating ")
		if !is || !more {
			break
		}
		place, cause = path, inner
	}
	// It quotes the value, however large that is, and says behind it what is wrong.
	if begin := first(cause, mostCause); len(begin) < len(cause) {
		runes := []rune(cause)
		cause = begin + "…" + string(runes[max(len([]rune(begin)), len(runes)-mostCause):])
	}
	if strings.Count(place, "/") > 2 || strings.HasPrefix(place, "/$defs/") {
		cause += " (" + place + ")"
	}
	return errors.New(cause)
}

// mostCause is how many characters of a cause are kept of its beginning, and as many of its end.
const mostCause = 100

const (
	// maxVisits is how many schemas the parameters of a tool may apply to one value and what it contains.
	maxVisits = 50_000
	// maxChecks is how many times a schema may be applied to a value in one validation. That takes about a
	// second; validations of real arguments take less than a millisecond.
	maxChecks = 500_000
)

// cost estimates how long a validation takes. References make that more than the size of a schema: some
// never end, some double at every step.
type cost struct {
	root   map[string]any
	visits int  // schemas that are applied, with all references followed once
	loops  int  // references to a schema from within itself
	bad    bool // the validation might never end, or its end cannot be foreseen
	open   []ref
}

// ref is a reference that is being followed.
type ref struct {
	to    string
	depth int // how many values deep in the arguments it stands
}

// isCheap reports whether a validation ends soon.
func isCheap(schema, args map[string]any) bool {
	c := cost{root: schema, bad: redirects(schema, 0)}
	c.visit(schema, 0, 0)
	if c.bad || c.visits > maxVisits {
		return false
	}
	most := float64(c.visits) * float64(1+sizeOf(args))
	if c.loops > 1 {
		most *= math.Pow(float64(c.loops), float64(depthOf(args)))
	}
	return most <= maxChecks
}

// redirects reports whether a schema has keywords that change what its references mean. A property that has
// the name of such a keyword has a schema as its value, which is no text.
func redirects(schema any, nested int) bool {
	switch v := schema.(type) {
	case map[string]any:
		for key, value := range v {
			switch key {
			case "$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$id":
				if _, isText := value.(string); isText && (key != "$id" || nested > 0) {
					return true
				}
			}
			if redirects(value, nested+1) {
				return true
			}
		}
	case []any:
		for _, value := range v {
			if redirects(value, nested+1) {
				return true
			}
		}
	}
	return false
}

// visit follows one schema. depth is that of the value it applies to, nested that of the schema itself.
func (c *cost) visit(schema any, depth, nested int) {
	if c.visits++; c.visits > maxVisits || nested > 10*maxSchemaDepth {
		c.bad = true
	}
	s, ok := schema.(map[string]any)
	if !ok || c.bad {
		return
	}
	for key, value := range s {
		switch key {
		case "$ref":
			c.follow(value, depth, nested)
		case "allOf", "anyOf", "oneOf":
			c.each(value, depth, nested)
		case "not", "if", "then", "else":
			c.visit(value, depth, nested+1)
		case "dependentSchemas", "dependencies":
			c.each(value, depth, nested)
		case "properties", "patternProperties", "prefixItems":
			c.each(value, depth+1, nested)
		case "items":
			if _, isList := value.([]any); isList {
				c.each(value, depth+1, nested)
			} else {
				c.visit(value, depth+1, nested+1)
			}
		case "additionalProperties", "additionalItems", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			c.visit(value, depth+1, nested+1)
		}
	}
}

// each visits the schemas in a list or an object.
func (c *cost) each(schemas any, depth, nested int) {
	switch list := schemas.(type) {
	case []any:
		for _, s := range list {
			c.visit(s, depth, nested+1)
		}
	case map[string]any:
		for _, s := range list {
			c.visit(s, depth, nested+1)
		}
	}
}

// follow visits the schema that a reference names.
func (c *cost) follow(value any, depth, nested int) {
	to, _ := value.(string)
	for _, open := range c.open {
		if open.to != to {
			continue
		}
		if open.depth == depth {
			c.bad = true // back at the same value: it would go round for ever
		}
		c.loops++
		return
	}
	target, found := lookUp(c.root, to)
	if !found {
		c.bad = true
		return
	}
	c.open = append(c.open, ref{to, depth})
	if to == "#" {
		// The whole schema contains this reference. It was visited on the way here.
		c.bad = c.bad || depth == 0
		c.loops++
	} else {
		c.visit(target, depth, nested+1)
	}
	c.open = c.open[:len(c.open)-1]
}

// lookUp returns the schema in root that a reference such as "#/$defs/city" names.
func lookUp(root map[string]any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	var at any = root
	if path == "" {
		return at, true
	}
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch in := at.(type) {
		case map[string]any:
			if at, ok = in[step]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			at = in[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// sizeOf returns the number of values in a JSON value.
func sizeOf(value any) int {
	n := 1
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			n += sizeOf(inner)
		}
	case []any:
		for _, inner := range v {
			n += sizeOf(inner)
		}
	}
	return n
}

// depthOf returns how deeply values nest in a JSON value, 0 for a plain one.
func depthOf(value any) int {
	deepest := -1
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			deepest = max(deepest, depthOf(inner))
		}
	case []any:
		for _, inner := range v {
			deepest = max(deepest, depthOf(inner))
		}
	}
	return deepest + 1
}
