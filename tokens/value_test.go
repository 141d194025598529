package tokens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

func milliJSON(v any) int64 {
	var c counter
	c.writeJSON(v)
	return c.milli
}

// marshal returns the text whose estimate the walk must match.
func marshal(t interface{ Fatal(...any) }, v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// jsonText excludes the two line separators that encoding/json escapes for JavaScript and the walk
// does not.
func jsonText() *rapid.Generator[string] {
	return rapid.String().Filter(func(s string) bool {
		return utf8.ValidString(s) && !strings.ContainsAny(s, "\u2028\u2029\ufffd")
	})
}

func jsonValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		jsonText().AsAny(),
		rapid.Int().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Float64().AsAny(),
		rapid.Float32().AsAny(),
		rapid.Uint8().AsAny(),
		rapid.SliceOf(jsonText()).AsAny(),
		rapid.MapOf(jsonText(), jsonText()).AsAny(),
		rapid.SliceOfN(rapid.Float64(), 0, 4).AsAny(),
	}
	if depth > 0 {
		child := jsonValue(depth - 1)
		kinds = append(kinds,
			rapid.SliceOfN(child, 0, 4).AsAny(),
			rapid.MapOfN(jsonText(), child, 0, 4).AsAny(),
			rapid.SliceOfN(rapid.MapOfN(jsonText(), child, 0, 2), 0, 2).AsAny(),
		)
	}
	return rapid.OneOf(kinds...)
}

func TestWalkCostsWhatTheJSONTextCosts(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		v := jsonValue(3).Draw(t, "value")
		text := marshal(t, v)
		if got, want := milliJSON(v), milli(text); got != want {
			t.Fatalf("walk costs %d, its JSON %d: %s", got, want, text)
		}
	})
}

func TestCountIsTheSameInAnyKeyOrder(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		m := rapid.MapOfN(jsonText(), jsonValue(2), 2, 8).Draw(t, "map")
		first := milliJSON(m)
		for range 10 { // each range over a map starts at another key
			if got := milliJSON(m); got != first {
				t.Fatalf("%d, then %d for the same map %v", first, got, m)
			}
		}
	})
}

func TestOddGoTypesAreMarshaled(t *testing.T) {
	t.Parallel()
	type point struct {
		X, Y int
		Note string `json:"note,omitempty"`
	}
	for _, v := range []any{
		point{1, 2, "<here> & there"}, &point{}, []point{{X: 1}}, map[string]point{"a": {}},
		json.Number("12.50"), json.RawMessage(`{"a": 1}`), time.Unix(0, 0).UTC(), []byte("bytes"),
		int32(-7), uint64(math.MaxUint64), map[int]string{1: "a"}, (*point)(nil),
		map[string]any(nil), []any(nil), []string(nil), map[string]string(nil),
		1e21, 1e-7, math.Copysign(0, -1), 5e-324, 100000000.0,
		map[string]any{"quote\"": "tab\tnewline\nnul\x00bell\x07back\\slash\b\f\r"},
	} {
		text := marshal(t, v)
		if got, want := milliJSON(v), milli(text); got != want {
			t.Errorf("%T: walk costs %d, its JSON %s costs %d", v, got, text, want)
		}
	}
}

func TestWhatJSONCannotHoldIsNull(t *testing.T) {
	t.Parallel()
	type loop struct{ Next *loop }
	cycle := &loop{}
	cycle.Next = cycle
	for _, v := range []any{math.NaN(), math.Inf(1), make(chan int), func() {}, cycle} {
		if got, want := milliJSON(v), milli("null"); got != want {
			t.Errorf("%T costs %d, want %d, as null", v, got, want)
		}
	}
}

func TestValuesThatContainThemselvesEnd(t *testing.T) {
	t.Parallel()
	one := map[string]any{}
	one["self"] = one
	two := map[string]any{"text": "harmless"}
	two["left"], two["right"] = two, two
	list := make([]any, 2)
	list[0], list[1] = list, list
	shared := any("leaf")
	for range 64 { // 2^64 leaves once written out
		shared = []any{shared, shared}
	}
	deep := any("bottom")
	for range 1_000_000 {
		deep = []any{deep}
	}
	for name, v := range map[string]any{"one": one, "two": two, "list": list, "shared": shared, "deep": deep} {
		first := milliJSON(v)
		if first <= 0 || first > 1000*maxValues {
			t.Errorf("%s costs %d, want something up to %d", name, first, 1000*maxValues)
		}
		if again := milliJSON(v); again != first {
			t.Errorf("%s costs %d, then %d", name, first, again)
		}
	}
}

func TestDepthBelowTheLimitIsRead(t *testing.T) {
	t.Parallel()
	deep := any("bottom")
	for range maxDepth {
		deep = []any{deep}
	}
	if got, want := milliJSON(deep), milli(marshal(t, deep)); got != want {
		t.Errorf("%d levels cost %d, want %d", maxDepth, got, want)
	}
}

func BenchmarkWriteJSON(b *testing.B) {
	rows := make([]any, 500)
	for i := range rows {
		rows[i] = map[string]any{"id": float64(i), "name": fmt.Sprintf("item %d", i), "tags": []any{"a", "b"}, "ok": true}
	}
	v := map[string]any{"rows": rows}
	text, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		milliJSON(v)
	}
}
