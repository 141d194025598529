package toolsearch

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
)

// object decodes arguments.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

const eventSchema = `{"type":"object","additionalProperties":false,"required":["title","when"],"$defs":{"person":{"type":"object","properties":{"mail":{"type":"string"},"age":{"type":"integer"}},"required":["mail"]}},
	"properties":{"title":{"type":"string"},"when":{"type":"object","properties":{"day":{"type":"integer"}},"required":["day"]},"guests":{"type":"array","items":{"$ref":"#/$defs/person"}},
	"kind":{"enum":["work","home"]},"note":{"type":["string","null"]},"weight":{"type":"number"},"name":{"type":"string"},"either":{"type":["integer","string"]}}}`

func TestACallThatCanOnlyMeanOneThingIsThatCall(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct{ given, want string }{
		"as declared":             {`{"name":"weather","arguments":{"city":"Rome","days":2}}`, `{"city":"Rome","days":2}`},
		"arguments as a text":     {`{"name":"weather","arguments":"{\"city\":\"Rome\"}"}`, `{"city":"Rome"}`},
		"arguments next to name":  {`{"name":"weather","city":"Rome","days":2}`, `{"city":"Rome","days":2}`},
		"next to empty arguments": {`{"name":"weather","arguments":null,"city":"Rome"}`, `{"city":"Rome"}`},
		"a text stays a text":     {`{"name":"weather","arguments":{"city":"12"}}`, `{"city":"12"}`},
		"null that is allowed":    {`{"name":"event","arguments":{"title":"a","when":{"day":1},"note":null}}`, `{"title":"a","when":{"day":1},"note":null}`},
		"a parameter called name": {`{"name":"event","arguments":{"title":"a","when":{"day":1},"name":"x"}}`, `{"title":"a","when":{"day":1},"name":"x"}`},
		"no parameters":           {`{"name":"ping"}`, `{}`},
		"empty text":              {`{"name":"ping","arguments":" "}`, `{}`},
		"no schema":               {`{"name":"ping","arguments":{"any":"5"}}`, `{"any":"5"}`},
		"a declared tool":         {`{"name":"read","arguments":{"path":"a"}}`, `{"path":"a"}`},
		"a transfer":              {`{"name":"transfer_to_agent","arguments":{"agent_name":"billing"}}`, `{"agent_name":"billing"}`},
		"google's dialect":        {`{"name":"google","arguments":{"n":3,"words":["a"],"maybe":null}}`, `{"n":3,"words":["a"],"maybe":null}`},
	} {
		c, wrong := sample(t).resolve(object(t, r.given))
		if wrong != nil {
			t.Errorf("%s: %s", name, wrong.text)
			continue
		}
		if diff := cmp.Diff(object(t, r.want), c.args); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestAWrongCallIsAnsweredWithWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		given, want string
		quotes      bool
	}{
		"no name":               {`{"arguments":{}}`, `Give the name of the tool as "name" and its arguments as "arguments", an object.`, false},
		"name of another type":  {`{"name":5}`, `Give the name of the tool as "name" and its arguments as "arguments", an object.`, false},
		"nil":                   {`null`, `Give the name of the tool as "name" and its arguments as "arguments", an object.`, false},
		"itself":                {`{"name":"tool_call","arguments":{"name":"weather"}}`, `Call tool_call directly, not through tool_call.`, false},
		"the search":            {`{"name":"tool_search","arguments":{"query":"x"}}`, `Call tool_search directly, not through tool_call.`, false},
		"a typo":                {`{"name":"wether","arguments":{"city":"Rome"}}`, `There is no tool "wether". Did you mean weather? Find tools with tool_search.`, false},
		"nothing like it":       {`{"name":"xylophone"}`, `There is no tool "xylophone". Find tools with tool_search.`, false},
		"not a tool":            {`{"name":"data"}`, `There is no tool "data". Find tools with tool_search.`, false},
		"not callable":          {`{"name":"idle"}`, `There is no tool "idle". Find tools with tool_search.`, false},
		"a request to the user": {`{"name":"adk_request_confirmation","arguments":{}}`, `There is no tool "adk_request_confirmation". Find tools with tool_search.`, false},
		"missing":               {`{"name":"weather","arguments":{"days":1}}`, `The arguments do not fit the parameters of "weather": required: missing properties: ["city"].`, true},
		"not parameters":        {`{"name":"event","arguments":{"a":1}}`, `The arguments do not fit the parameters of "event": required: missing properties: ["title" "when"]; "a": unexpected additional properties ["a"].`, true},
		"a list":                {`{"name":"weather","arguments":["Rome"]}`, `The arguments of "weather" must be an object.`, true},
		"null as a text":        {`{"name":"weather","arguments":"null"}`, `The arguments of "weather" must be an object.`, true},
		"a text":                {`{"name":"weather","arguments":"Rome"}`, `The arguments of "weather" must be an object.`, true},
		"both places":           {`{"name":"weather","arguments":{"city":"Rome"},"days":2}`, `Put all arguments of "weather" into "arguments", not next to it.`, true},
		"a number as a text":    {`{"name":"weather","arguments":{"city":"Rome","days":"007"}}`, `The arguments do not fit the parameters of "weather": "days": type: 007 has type "string", want "integer".`, true},
		"a number for a text":   {`{"name":"event","arguments":{"title":5,"when":{"day":1}}}`, `The arguments do not fit the parameters of "event": "title": type: 5 has type "integer", want "string".`, true},
		"a required null":       {`{"name":"weather","arguments":{"city":null}}`, `The arguments do not fit the parameters of "weather": "city": type: null has type "null", want "string".`, true},
		"another agent":         {`{"name":"transfer_to_agent","arguments":{"agent_name":"nobody"}}`, `The arguments do not fit the parameters of "transfer_to_agent": "agent_name": enum: nobody does not equal any of: [billing].`, true},
	} {
		for range 5 {
			got, err := sample(t).Run(nil, object(t, r.given))
			if err != nil || got["error"] != r.want || (got["parameters"] != nil) != r.quotes || len(got) > 2 {
				t.Errorf("%s: %v, want %s", name, got, r.want)
				break
			}
		}
	}
}

func TestARightCallThatReachesTheToolRunsNothing(t *testing.T) {
	t.Parallel()
	got, err := sample(t).Run(nil, map[string]any{"name": "weather", "arguments": map[string]any{"city": "Rome"}})
	if err != nil || got["error"] != `Call "weather" directly, by its own name.` || got["parameters"] == nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := sample(t).Run(nil, "no object"); err != nil || got["error"] == nil {
		t.Errorf("%v, %v", got, err)
	}
}

// idle can be declared, but not called.
type idle struct{ tool.Tool }

// panics has no declaration.
type panics struct{ fixed }

func (panics) Declaration() *genai.FunctionDeclaration { panic("no") }

// streams can only be streamed.
type streams struct{ fixed }

func (streams) Run() {}

func (streams) RunStream(agent.ToolContext, any) iter.Seq2[string, error] { return nil }

// sample is tool_call in a request with tools of all sorts.
func sample(t testing.TB) *callTool {
	t.Helper()
	yes := true
	google := fixed{&genai.FunctionDeclaration{Name: "google", Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"n"}, Properties: map[string]*genai.Schema{
		"n": {Type: genai.TypeInteger}, "words": {Type: genai.TypeArray, Items: &genai.Schema{Type: genai.TypeString}}, "maybe": {Type: genai.TypeString, Nullable: &yes},
	}}}}
	transfer := fixed{&genai.FunctionDeclaration{Name: "transfer_to_agent", Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"agent_name"},
		Properties: map[string]*genai.Schema{"agent_name": {Type: genai.TypeString, Enum: []string{"billing"}}}}}}
	req := asked([]fixed{takes("weather", weatherSchema), takes("event", eventSchema), takes("ping", ""), google}, []fixed{takes("read", ""), transfer})
	req.Tools["data"], req.Tools["idle"] = 5, idle{}
	return req.Tools[CallToolName].(*callTool)
}

func TestToolsOfEveryKindCanBeCalled(t *testing.T) {
	t.Parallel()
	c := newCallTool(nil, map[string]any{"streams": streams{takes("streams", "")}, "panics": panics{takes("panics", "")}, "nil": fixed{nil}})
	for name := range c.tools {
		if got, wrong := c.resolve(map[string]any{"name": name, "arguments": map[string]any{"a": 1}}); wrong != nil || got.name != name {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

func TestTheDeclarationIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	a, b := newCallTool(nil, nil), newCallTool(nil, map[string]any{"x": 1})
	if a.Declaration() != b.Declaration() || a.Description() != a.Declaration().Description || a.Name() != CallToolName || a.IsLongRunning() || a.ProcessRequest(nil, nil) != nil {
		t.Error("tool_call differs between requests")
	}
}

func TestALargeValueIsNotQuoted(t *testing.T) {
	t.Parallel()
	got, err := sample(t).Run(nil, map[string]any{"name": "weather", "arguments": map[string]any{"city": "Rome", "days": strings.Repeat("x", 1<<20)}})
	text, _ := got["error"].(string)
	if err != nil || len(text) > 500 || !strings.Contains(text, `"days": type: x`) || !strings.HasSuffix(text, `has type "string", want "integer".`) {
		t.Errorf("%d bytes: %.300s, %v", len(text), text, err)
	}
}

func TestALargeSchemaIsNotQuoted(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","required":["a"],"description":"` + strings.Repeat("x", maxQuoted) + `"}`
	got, _ := newCallTool(nil, map[string]any{"big": takes("big", schema)}).Run(nil, map[string]any{"name": "big"})
	if got["parameters"] != nil || got["error"] != `The arguments do not fit the parameters of "big": required: missing properties: ["a"]. See its parameters with tool_search.` {
		t.Errorf("%v", got)
	}
}

func TestASchemaThatCannotBeAppliedLeavesTheJudgmentToTheTool(t *testing.T) {
	t.Parallel()
	loop := &jsonschema.Schema{Type: "object"}
	loop.Properties = map[string]*jsonschema.Schema{"self": loop}
	laughs := []string{`"x0":{"type":"string"}`}
	for i := range 40 {
		laughs = append(laughs, fmt.Sprintf(`"x%d":{"anyOf":[{"$ref":"#/$defs/x%d"},{"$ref":"#/$defs/x%d"}]}`, i+1, i, i))
	}
	google := &genai.Schema{Type: genai.TypeObject}
	google.Properties = map[string]*genai.Schema{"self": google, "nil": nil}
	deep := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	for name, r := range map[string]struct {
		decl *genai.FunctionDeclaration
		args string
	}{
		"contains itself":              {&genai.FunctionDeclaration{ParametersJsonSchema: loop}, `{"self":5}`},
		"contains itself, by value":    {&genai.FunctionDeclaration{ParametersJsonSchema: *loop}, `{"self":5}`},
		"google's, contains itself":    {&genai.FunctionDeclaration{Parameters: google}, `{"self":5}`},
		"refers to itself":             {takes("", `{"$ref":"#"}`).decl, `{}`},
		"a circle of references":       {takes("", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`).decl, `{"x":1}`},
		"a circle through a path":      {takes("", `{"properties":{"x":{"not":{"$ref":"#/properties/x"}}}}`).decl, `{"x":1}`},
		"doubles forty times":          {takes("", `{"$ref":"#/$defs/x40","$defs":{`+strings.Join(laughs, ",")+`}}`).decl, `{}`},
		"doubles at each level":        {takes("", `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}},"required":["b"]}]}`).decl, deep},
		"another document":             {takes("", `{"$ref":"https://example.com/schema.json"}`).decl, `{}`},
		"a name for a place":           {takes("", `{"$defs":{"a":{"$anchor":"here","type":"string"}},"properties":{"x":{"$ref":"#here"}}}`).decl, `{"x":1}`},
		"an id inside":                 {takes("", `{"$defs":{"o":{"$id":"u","properties":{"x":{"$ref":"#/$defs/y"}},"$defs":{"y":{"$ref":"#/$defs/y"}}},"y":{}},"properties":{"a":{"$ref":"#/$defs/o/properties/x"}}}`).decl, `{"a":1}`},
		"a dynamic reference":          {takes("", `{"$dynamicAnchor":"n","properties":{"x":{"$dynamicRef":"#n"}}}`).decl, `{"x":1}`},
		"a pattern that Go has not":    {takes("", `{"properties":{"x":{"pattern":"(?=a)"}}}`).decl, `{"x":"b"}`},
		"an old draft":                 {takes("", `{"properties":{"x":{"minimum":5,"exclusiveMinimum":true}}}`).decl, `{"x":5}`},
		"false":                        {takes("", `false`).decl, `{}`},
		"a list":                       {takes("", `[]`).decl, `{}`},
		"no JSON":                      {&genai.FunctionDeclaration{ParametersJsonSchema: func() {}}, `{}`},
		"an encoder that panics":       {&genai.FunctionDeclaration{ParametersJsonSchema: encoder{}}, `{}`},
		"accepts everything":           {&genai.FunctionDeclaration{ParametersJsonSchema: &jsonschema.Schema{}}, `{"x":1}`},
		"a nil pointer":                {&genai.FunctionDeclaration{ParametersJsonSchema: (*jsonschema.Schema)(nil)}, `{"x":1}`},
		"schemas nested without end":   {takes("", strings.Repeat(`{"not":`, 2000)+`{}`+strings.Repeat(`}`, 2000)).decl, `{}`},
		"a reference that is not text": {takes("", `{"$ref":5}`).decl, `{}`},
	} {
		r.decl.Name = "odd"
		c := newCallTool(nil, map[string]any{"odd": fixed{r.decl}})
		if _, wrong := c.resolve(map[string]any{"name": "odd", "arguments": object(t, r.args)}); wrong != nil {
			t.Errorf("%s: %s", name, wrong.text)
		}
	}
}

type encoder struct{}

func (encoder) MarshalJSON() ([]byte, error) { panic("no") }

func TestSchemasThatReferToThemselvesAreApplied(t *testing.T) {
	t.Parallel()
	tree := takes("tree", `{"$schema":"http://json-schema.org/draft-06/schema#","type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["v"]}`)
	list := takes("list", `{"type":"object","properties":{"head":{"$ref":"#/$defs/a~1b"}},"$defs":{"a/b":{"type":"object","properties":{"next":{"$ref":"#/$defs/a~1b"}},"additionalProperties":false}}}`)
	c := newCallTool(nil, map[string]any{"tree": tree, "list": list})
	for given, right := range map[string]bool{
		`{"name":"tree","arguments":{"v":1,"kids":[{"v":2,"kids":[{"v":3}]}]}}`: true,
		`{"name":"tree","arguments":{"v":1,"kids":[{"v":2,"kids":[{}]}]}}`:      false,
		`{"name":"tree","arguments":{"v":1,"kids":[{"v":"2","kids":[]}]}}`:      false,
		`{"name":"list","arguments":{"head":{"next":{"next":{}}}}}`:             true,
		`{"name":"list","arguments":{"head":{"next":{"nxt":{}}}}}`:              false,
	} {
		if _, wrong := c.resolve(object(t, given)); (wrong == nil) != right {
			t.Errorf("%s: %v", given, wrong)
		}
	}
}

// TestEachArgumentThatIsWrongIsNamed, in one answer and in the same order each time: a model that learns of one mistake at a
// time calls as often as it made mistakes.
func TestEachArgumentThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","required":["d"],"additionalProperties":false,
		"$defs":{"n":{"type":"integer"},"tree":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}},"leaf":{"type":"boolean"}}}},
		"properties":{"a":{"type":"integer"},"b":{"$ref":"#/$defs/n"},"c":{"$ref":"#/$defs/tree"},"d":{"type":"string"}}}`
	args := `{"a":null,"b":"q","c":{"kids":[{"kids":[{"kids":[{"leaf":"no"}]}]}]},"w":1,"y":2,"z":3}`
	texts := map[string]bool{}
	for range 50 {
		c := newCallTool(nil, map[string]any{"x": takes("x", schema)})
		_, wrong := c.resolve(map[string]any{"name": "x", "arguments": args})
		texts[wrong.text] = true
		for _, want := range []string{`missing properties: ["d"]; `, `"a": type: null has type "null", want "integer"; `, `"b": type: q has type "string", want "integer"`,
			`"w": unexpected additional properties ["w"]; "y": unexpected`,
			`"c": type: no has type "string", want "boolean" (/$defs/tree/properties/leaf)`} {
			if !strings.Contains(wrong.text, want) {
				t.Fatalf("%q does not have %s", wrong.text, want)
			}
		}
	}
	if len(texts) != 1 {
		t.Errorf("%d texts for the same call: %v", len(texts), texts)
	}
}

// TestOtherRulesForAllArgumentsAreNamedAsTheyAre: what no single argument breaks is told as the library tells it, and an
// argument that only a part of the schema declares is not taken for an unknown one.
func TestOtherRulesForAllArgumentsAreNamedAsTheyAre(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","allOf":[{"properties":{"a":{"type":"integer"}}}],"unevaluatedProperties":false,"maxProperties":2,"properties":{"b":{"type":"string"},"c":{"type":"string"}}}`
	for args, want := range map[string]string{
		`{"a":1,"b":"x","c":"y"}`: "maxProperties",
		`{"a":1,"other":2}`:       "not: ",
		`{"a":"x"}`:               `has type "string", want "integer"`,
	} {
		c := newCallTool(nil, map[string]any{"x": takes("x", schema)})
		_, wrong := c.resolve(map[string]any{"name": "x", "arguments": args})
		if wrong == nil || !strings.Contains(wrong.text, want) || want != "not: " && strings.Contains(wrong.text, "not: ") {
			t.Errorf("%s: %+v, want %s", args, wrong, want)
		}
	}
}
