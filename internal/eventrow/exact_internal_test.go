package eventrow

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// TestATypeThatContainsItselfHasAnEnd: an event of ADK v2 has a JSON schema, whose parts are schemas.
func TestATypeThatContainsItselfHasAnEnd(t *testing.T) {
	t.Parallel()
	type schema struct {
		Items *schema
		Names []string `json:"names,omitempty"`
	}
	found := findSpots(reflect.TypeFor[struct{ Asked *schema }](), map[reflect.Type][]spot{})
	if len(found) != 1 || found[0].kind != spotBelow {
		t.Errorf("found %v, want what is in the schema itself", found)
	}
}

// TestFieldsOfAnotherVersionAreSkipped: another version of ADK or of genai may have written the row. A path that no
// version can have written is damage.
func TestFieldsOfAnotherVersionAreSkipped(t *testing.T) {
	t.Parallel()
	ev := &session.Event{ID: "e1"}
	ev.Content = &genai.Content{Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "c"}}}}
	row, err := Encode(ev)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/LLMResponse/Content/Parts/0/FunctionCall/Args": "",
		"/Later":               "",
		"/LaterInfo/OutputFor": "",
		"/Actions/Later":       "",
		"/LLMResponse/Content/Parts/0/FunctionCall/Later": "",
		"/LLMResponse/Content/Parts/1/Later":              "has no field",
		"/LLMResponse/Content/Parts/x":                    "has no field",
		"/LLMResponse/UsageMetadata/Later":                "",
		"/LLMResponse/GroundingMetadata/GroundingChunks":  "has no field",
		"/ID/Later": "has no field",
	} {
		x, err := json.Marshal(extra{Exact: exactly{path: json.RawMessage(`{}`)}})
		if err != nil {
			t.Fatal(err)
		}
		row.Extra = string(x)
		back, err := Decode(row.Stored())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if got := err == nil && back.Content.Parts[0].FunctionCall.Args != nil; got != strings.HasSuffix(path, "/Args") {
			t.Errorf("%s: args restored: %v", path, got)
		}
	}
}
