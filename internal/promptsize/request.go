package promptsize

import (
	"encoding/json"
	"reflect"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// OfRequest is the size of a request: of its contents, and of its fixed part, which is the system
// instruction and the tool declarations. Both are 0 for nil.
func OfRequest(req *model.LLMRequest) (contents, fixed int) {
	if req == nil {
		return 0, 0
	}
	for _, c := range req.Contents {
		contents += tokens.OfContent(c) + EventOverhead
	}
	if req.Config == nil {
		return contents, 0
	}
	if req.Config.SystemInstruction != nil {
		fixed = tokens.OfContent(req.Config.SystemInstruction)
	}
	return contents, fixed + ofTools(req.Config.Tools)
}

// ofTools is the size of the tool declarations: names, descriptions and schemas.
func ofTools(tools []*genai.Tool) int {
	sum := 0
	for _, t := range tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				sum += EventOverhead + tokens.Estimate(d.Name) + tokens.Estimate(d.Description)
				sum += ofSchema(d.Parameters) + ofSchema(d.ParametersJsonSchema)
			}
		}
	}
	return sum
}

// schemas caches the sizes of schemas by pointer. ADK makes a new declaration for every request,
// but reuses the schema.
var schemas, _ = lru.New[any, int](1024) // New fails only for a size that is not positive

// ofSchema is the size of a schema as JSON, 0 for nil and for a value that has no JSON form.
func ofSchema(schema any) int {
	value := reflect.ValueOf(schema)
	kind := value.Kind()
	if kind == reflect.Invalid || (kind == reflect.Pointer || kind == reflect.Map || kind == reflect.Slice) && value.IsNil() {
		return 0
	}
	if kind == reflect.Pointer {
		if size, ok := schemas.Get(schema); ok {
			return size
		}
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return 0
	}
	size := tokens.Estimate(string(data))
	if kind == reflect.Pointer {
		schemas.Add(schema, size)
	}
	return size
}
