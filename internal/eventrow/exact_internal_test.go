package eventrow

import (
	"reflect"
	"testing"
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
