package canonical_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/canonical"
)

type point struct {
	X int    `json:"x"`
	S string `json:"s,omitempty"`
}

type cyclic struct{ Next *cyclic }

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no JSON") }

func TestEveryValueHasOneEncoding(t *testing.T) {
	t.Parallel()
	loop := map[string]any{"b": 1}
	loop["a"], loop["c"] = loop, []any{loop}
	ring := &cyclic{}
	ring.Next = ring
	shared := map[string]any{"n": 1}
	for _, r := range []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, `null`},
		{"nil map", map[string]any(nil), `null`},
		{"keys are sorted", map[string]any{"b": 1, "a": true}, `{"a":true,"b":1}`},
		{"numbers are float64", []any{1, int64(1), 1.0, uint8(1), json.Number("1")}, `[1,1,1,1,1]`},
		{"a number beyond float64's integers", int64(9007199254740993), `9007199254740992`},
		{"no HTML escapes", "<a & b>", `"<a & b>"`},
		{"no UTF-8", "a\xff\xfeb", `"a��b"`},
		{"a struct", point{X: 1}, `{"x":1}`},
		{"a slice of structs", []point{{1, "a"}}, `[{"s":"a","x":1}]`},
		{"bytes", []byte("abc"), `"YWJj"`},
		{"raw JSON", json.RawMessage(`{"b": 1,"a":[ ]}`), `{"a":[],"b":1}`},
		{"raw, and no JSON", json.RawMessage(`{`), `"[json.RawMessage cannot be shown]"`},
		{"NaN", math.NaN(), `"[NaN]"`},
		{"infinity", math.Inf(-1), `"[-Inf]"`},
		{"a function", func() {}, `"[func() cannot be shown]"`},
		{"a value that panics", panics{}, `"[canonical_test.panics cannot be shown]"`},
		{"a map that contains itself", loop, `{"a":"[contains itself]","b":1,"c":["[contains itself]"]}`},
		{"a pointer to itself", ring, `"[*canonical_test.cyclic cannot be shown]"`},
		{"one map twice is no cycle", []any{shared, shared}, `[{"n":1},{"n":1}]`},
	} {
		got := canonical.String(r.v)
		if got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
		var back any
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if !reflect.DeepEqual(back, canonical.Value(r.v)) {
			t.Errorf("%s: Value is %#v, and JSON brings back %#v", r.name, canonical.Value(r.v), back)
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	var v any = "bottom"
	for range 10_000 {
		v = []any{v}
	}
	got := canonical.String(v)
	if !strings.Contains(got, "[nested more than 64 levels deep]") || strings.Count(got, "[") != canonical.MaxDepth+1 {
		t.Errorf("%d levels: %.100s", strings.Count(got, "["), got)
	}
}

// FuzzJSON holds that a value which JSON brought back is encoded as before.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,"<é>"],"b":null}`))
	f.Add([]byte("\"a\xff\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			v = string(data)
		}
		once := canonical.String(v)
		var back any
		if err := json.Unmarshal([]byte(once), &back); err != nil {
			t.Fatalf("%q: %v", once, err)
		}
		if twice := canonical.String(back); twice != once {
			t.Errorf("%q becomes %q", once, twice)
		}
	})
}
