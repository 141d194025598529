package prompt

import (
	"reflect"
	"testing"

	"google.golang.org/genai"
)

// filled returns a value of type T whose field number i is set, and the name of that field.
func filled[T any](i int) (*T, string) {
	v := reflect.New(reflect.TypeFor[T]())
	set(v.Elem().Field(i), 4)
	return v.Interface().(*T), v.Elem().Type().Field(i).Name
}

// set gives a value some content of its type.
func set(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), depth-1)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"type": "object"}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(v.Index(0), depth-1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		set(value, depth-1)
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				set(v.Field(i), depth-1)
			}
		}
	}
}

// TestEveryFieldCountsInTheKey: a field that a new version of genai adds must not be left out, or a request
// would be answered with the tools of another one.
func TestEveryFieldCountsInTheKey(t *testing.T) {
	t.Parallel()
	d := newSchemaDigests()
	seen := map[[32]byte]string{}
	add := func(name string, cfg *genai.GenerateContentConfig) {
		sum, ok := d.sumOf("m", cfg)
		if before, twice := seen[sum]; twice || !ok {
			t.Errorf("%s has the key of %s, %v", name, before, ok)
		}
		seen[sum] = name
	}
	add("an empty function", &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{}}}}})
	add("an empty tool config", &genai.GenerateContentConfig{ToolConfig: &genai.ToolConfig{}})
	add("an empty calling config", &genai.GenerateContentConfig{ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{}}})
	add("an empty part", &genai.GenerateContentConfig{SystemInstruction: &genai.Content{Parts: []*genai.Part{{}}}})
	add("nothing", &genai.GenerateContentConfig{})
	add("an empty tool", &genai.GenerateContentConfig{Tools: []*genai.Tool{{}}})
	add("a nil tool", &genai.GenerateContentConfig{Tools: []*genai.Tool{nil}})
	for i := range reflect.TypeFor[genai.Tool]().NumField() {
		tool, name := filled[genai.Tool](i)
		add("Tool."+name, &genai.GenerateContentConfig{Tools: []*genai.Tool{tool}})
	}
	for i := range reflect.TypeFor[genai.FunctionDeclaration]().NumField() {
		f, name := filled[genai.FunctionDeclaration](i)
		add("FunctionDeclaration."+name, &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{f}}}})
	}
	for i := range reflect.TypeFor[genai.ToolConfig]().NumField() {
		c, name := filled[genai.ToolConfig](i)
		add("ToolConfig."+name, &genai.GenerateContentConfig{ToolConfig: c})
	}
	for i := range reflect.TypeFor[genai.FunctionCallingConfig]().NumField() {
		c, name := filled[genai.FunctionCallingConfig](i)
		if i > 0 { // the first is what set gives a ToolConfig with all fields
			add("FunctionCallingConfig."+name, &genai.GenerateContentConfig{ToolConfig: &genai.ToolConfig{FunctionCallingConfig: c}})
		}
	}
	for i := range reflect.TypeFor[genai.Part]().NumField() {
		p, name := filled[genai.Part](i)
		add("Part."+name, &genai.GenerateContentConfig{SystemInstruction: &genai.Content{Parts: []*genai.Part{p}}})
	}
	add("an empty instruction", &genai.GenerateContentConfig{SystemInstruction: &genai.Content{}})
	add("a role", &genai.GenerateContentConfig{SystemInstruction: &genai.Content{Role: "user"}})
	add("a nil part", &genai.GenerateContentConfig{SystemInstruction: &genai.Content{Parts: []*genai.Part{nil}}})
	if len(seen) < 40 {
		t.Errorf("%d configs only", len(seen))
	}
}

// Texts must not be able to flow from one field into the next.
func TestKeysOfConfigsThatLookAlikeDiffer(t *testing.T) {
	t.Parallel()
	d := newSchemaDigests()
	function := func(name, description string) *genai.FunctionDeclaration {
		return &genai.FunctionDeclaration{Name: name, Description: description}
	}
	seen := map[[32]byte]int{}
	for i, cfg := range []*genai.GenerateContentConfig{
		{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{function("ab", "c")}}}},
		{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{function("a", "bc")}}}},
		{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{function("a", "b"), function("c", "")}}}},
		{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{function("a", "b")}}, {FunctionDeclarations: []*genai.FunctionDeclaration{function("c", "")}}}},
		{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{function("c", ""), function("a", "b")}}}},
		{SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "ab"}, {Text: "c"}}}},
		{SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "a"}, {Text: "bc"}}}},
		{SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "abc"}}}},
	} {
		for _, model := range []string{"m", "ma"} {
			sum, ok := d.sumOf(model, cfg)
			if before, twice := seen[sum]; twice || !ok {
				t.Errorf("config %d has the key of %d, %v", i, before, ok)
			}
			seen[sum] = i
		}
	}
}

// Two processes, and two requests of one process, have equal keys for equal contents: pointers and the order
// of maps do not matter.
func TestTheKeyIsThatOfTheContents(t *testing.T) {
	t.Parallel()
	cfg := func() *genai.GenerateContentConfig {
		return &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
				{Name: "a", ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"x": 1, "y": 2, "z": 3}}},
				{Name: "b", Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"x": {}, "y": {}, "z": {}}}},
			}}},
		}
	}
	want, _ := newSchemaDigests().sumOf("m", cfg())
	d := newSchemaDigests()
	for range 50 {
		if got, ok := d.sumOf("m", cfg()); !ok || got != want {
			t.Fatal("equal contents have different keys")
		}
	}
}

func TestLearnedMinimums(t *testing.T) {
	t.Parallel()
	m := cacheMinimums{initial: 1_000, learned: map[string]int{}}
	if m.of("a") != 1_000 {
		t.Error("the initial minimum does not count")
	}
	for _, r := range []struct{ estimate, total, minimum, want int }{
		{5_000, 4_000, 4_096, 5_120},
		{2_000, 0, 4_096, 4_096}, // Vertex AI gives only its minimum
		{5_000, 0, 4_096, 5_001}, // what was refused is too small in any case
		{5_000, 0, 0, 5_001},
		{5_000, 6_000, 4_096, 5_001}, // senseless numbers
	} {
		if got := m.learn("a", r.estimate, r.total, r.minimum); got != r.want || m.of("a") != r.want {
			t.Errorf("%+v: learned %d", r, got)
		}
	}
}
