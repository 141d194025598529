package conversation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// The declarations of every API are read, in their order, and what is none is left out.
func TestDeclaredToolsAreRead(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"city":{"type":"string"}}}`
	for name, test := range map[string]struct {
		fields string
		want   []string // name, description and whether there is a schema
		notes  string
	}{
		"none":          {"", nil, ""},
		"OpenAI":        {`"tools":[{"type":"function","function":{"name":"b","description":"B.","parameters":` + schema + `}},{"type":"function","function":{"name":"a"}}],`, []string{"b B. true", "a  false"}, ""},
		"OpenAI, old":   {`"functions":[{"name":"a","description":"A.","parameters":` + schema + `}],`, []string{"a A. true"}, ""},
		"Gemini":        {`"tools":[{"functionDeclarations":[{"name":"a","parametersJsonSchema":` + schema + `},{"name":"b","parameters":` + schema + `}]},{"googleSearch":{}}],`, []string{"a  true", "b  true"}, "tools without a declaration, left out: 1"},
		"Gemini config": {`"config":{"tools":[{"function_declarations":[{"name":"a"}]}]},`, []string{"a  false"}, ""},
		"Anthropic":     {`"tools":[{"name":"a","description":"A.","input_schema":` + schema + `}],`, []string{"a A. true"}, ""},
		"names":         {`"tools":["a","b"],`, nil, "tools without a declaration, left out: 2"},
		"no list":       {`"tools":"a",`, nil, ""},
		"twice":         {`"tools":[{"name":"a","description":"one"},{"name":"a","description":"two"}],`, []string{"a one false"}, "tools declared twice, the first is used: 1"},
		"wrong types":   {`"tools":[{"name":7},{"name":"a","description":7},{"function":{"description":"no name"}}],`, nil, "tools without a declaration, left out: 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := conversation.NewReader(strings.NewReader(`{`+test.fields+`"messages":[`+hello+`,`+hi+`]}`), "x.jsonl")
			c, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range c.Tools {
				has := "false"
				if d.ParametersJsonSchema != nil {
					has = "true"
				}
				got = append(got, d.Name+" "+d.Description+" "+has)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if notes := strings.Join(c.Notes, "; "); notes != test.notes {
				t.Errorf("notes %q, want %q", notes, test.notes)
			}
		})
	}
}
