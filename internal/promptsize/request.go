package promptsize

import (
	"encoding/json"
	"reflect"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/tokens"
)

// OfRequest is the size of a request: of its contents, and of its fixed part, which is the system
// instruction and the tool declarations. Both are 0 for nil.
func OfRequest(req *model.LLMRequest) (contents, fixed int) {
	if req == nil {
		return 0, 0
	}
	for _, c := range req.Contents {
		contents += OfContent(c)
	}
	if req.Config == nil {
		return contents, 0
	}
	if req.Config.SystemInstruction != nil {
		fixed = tokens.OfContent(req.Config.SystemInstruction)
	}
	size, _ := OfTools(req.Config.Tools)
	return contents, fixed + size
}

// OfContent is the size of one content of a request, EventOverhead for nil.
func OfContent(c *genai.Content) int { return tokens.OfContent(c) + EventOverhead }

// OfTools is the size of tool declarations (names, descriptions and schemas), and a hash of all that a
// provider is sent of the tools. Equal tools in another order have another hash.
func OfTools(tools []*genai.Tool) (size int, hash uint64) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d == nil {
				continue
			}
			declared := ofDeclaration(d)
			size += declared.size
			hash = mix(hash, declared.hash)
		}
		hash = mix(hash, hashBuiltIn(t))
	}
	return size, hash
}

// OfDeclaration is the size of one declaration, 0 for nil.
func OfDeclaration(d *genai.FunctionDeclaration) int {
	if d == nil {
		return 0
	}
	return ofDeclaration(d).size
}

// HashTools returns the name and a hash of each tool declaration, in order. A tool that is built into the
// model has the name "built-in".
func HashTools(tools []*genai.Tool) (names []string, hashes []uint64) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				names, hashes = append(names, d.Name), append(hashes, ofDeclaration(d).hash)
			}
		}
		if hash := hashBuiltIn(t); hash != 0 {
			names, hashes = append(names, "built-in"), append(hashes, hash)
		}
	}
	return names, hashes
}

// measured is the size of something, and a hash of its content.
type measured struct {
	size int
	hash uint64
}

// ofDeclaration measures a declaration. The response schema is sent, but providers do not count it.
func ofDeclaration(d *genai.FunctionDeclaration) measured {
	named := ofText(d.Name)
	described := ofText(d.Description)
	sum := measured{EventOverhead + named.size + described.size, mix(named.hash, described.hash)}
	for _, schema := range []any{d.Parameters, d.ParametersJsonSchema} {
		of := ofSchema(schema)
		sum.size += of.size
		sum.hash = mix(sum.hash, of.hash)
	}
	for _, schema := range []any{d.Response, d.ResponseJsonSchema} {
		sum.hash = mix(sum.hash, ofSchema(schema).hash)
	}
	return sum
}

// cacheSize is how many schemas, and how many names and descriptions, the caches hold.
const cacheSize = 4096

// schemas caches measured schemas by pointer. ADK makes a new declaration for every request, but
// reuses the schema. texts does the same for names and descriptions. New fails only for a size that is
// not positive.
var (
	schemas, _ = lru.New[any, measured](cacheSize)
	maps, _    = lru.New[uintptr, measuredMap](cacheSize)
	texts, _   = lru.New[string, measured](cacheSize)
)

// measuredMap keeps the map of a cached schema, so that no other map can get its address.
type measuredMap struct {
	measured
	schema any
}

// maxCachedText is the length, in bytes, of the longest text that is cached.
const maxCachedText = 4 << 10

func ofText(text string) measured {
	if m, ok := texts.Get(text); ok {
		return m
	}
	m := measured{tokens.Estimate(text), hashText(text)}
	if len(text) <= maxCachedText {
		texts.Add(text, m)
	}
	return m
}

// ofSchema measures a schema as JSON. Nil measures 0, as does a value that has no JSON form, for example
// because it contains itself.
func ofSchema(schema any) measured {
	value := reflect.ValueOf(schema)
	kind := value.Kind()
	if kind == reflect.Invalid || (kind == reflect.Pointer || kind == reflect.Map || kind == reflect.Slice) && value.IsNil() {
		return measured{}
	}
	switch kind {
	case reflect.Pointer:
		if m, ok := schemas.Get(schema); ok {
			return m
		}
	case reflect.Map:
		if m, ok := maps.Get(value.Pointer()); ok {
			return m.measured
		}
	}
	m := ofJSON(value)
	switch kind {
	case reflect.Pointer:
		schemas.Add(schema, m)
	case reflect.Map:
		maps.Add(value.Pointer(), measuredMap{m, schema})
	}
	return m
}

// ofJSON measures a value as JSON, 0 for one that has none. A type of the app may panic when it is marshaled.
func ofJSON(value reflect.Value) (m measured) {
	defer survive.Else("promptsize: a schema as JSON", func() { m = measured{} })
	if !isFinite(value, 0, new(int)) {
		return measured{}
	}
	data, err := json.Marshal(value.Interface())
	if err != nil {
		return measured{}
	}
	text := string(data)
	return measured{tokens.Estimate(text), hashText(text)}
}

// IsSummary reports whether a content of a request is a summary that a view shows.
func IsSummary(c *genai.Content) bool {
	return c != nil && len(c.Parts) > 0 && slices.ContainsFunc(c.Parts, func(p *genai.Part) bool {
		return p != nil && view.IsSummaryText(p.Text)
	})
}

// Limits of a schema. A type with a MarshalJSON method of its own, such as jsonschema.Schema, must not be
// marshaled if it contains itself: encoding/json does not notice the cycle, and the process ends.
const (
	maxSchemaDepth  = 500
	maxSchemaValues = 1 << 18
)

// isFinite reports whether a value is a tree of reasonable size. n counts what was visited.
func isFinite(v reflect.Value, depth int, n *int) bool {
	if *n++; depth > maxSchemaDepth || *n > maxSchemaValues {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || isFinite(v.Elem(), depth+1, n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !isFinite(v.Field(i), depth+1, n) {
				return false
			}
		}
	case reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			if !isFinite(iter.Value(), depth+1, n) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range v.Len() {
			if !isFinite(v.Index(i), depth+1, n) {
				return false
			}
		}
	}
	return true
}
