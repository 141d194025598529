package toolresult

import (
	"hash/maphash"
	"testing"
)

type opaque struct{}

func TestDifferentValuesHaveDifferentFingerprints(t *testing.T) {
	t.Parallel()
	f := fingerprinter{maphash.MakeSeed()}
	loop := map[string]any{}
	loop["self"] = loop
	seen := map[uint64]int{}
	for i, v := range []map[string]any{
		nil, {"": nil}, {"a": nil}, {"a": ""}, {"a": "1"}, {"a": 1}, {"a": true}, {"a": false}, {"a": 1.5}, {"a": int64(2)},
		{"a": []any{}}, {"a": map[string]any{}}, {"a": []any{nil}}, {"a": []any{"b", "c"}}, {"a": []any{"c", "b"}}, {"a": []any{"bc"}},
		{"a": "b", "c": "d"}, {"a": "d", "c": "b"}, {"c": "b"}, {"a": map[string]any{"b": "c"}},
	} {
		print, known := f.named("tool", v)
		if other, twice := seen[print]; twice || !known {
			t.Errorf("%d: known: %v, the same as %d", i, known, other)
		}
		seen[print] = i
		if again, _ := f.named("tool", v); again != print {
			t.Errorf("%d has two fingerprints", i)
		}
		if other, _ := f.named("tools", v); other == print {
			t.Errorf("%d has the same fingerprint from another tool", i)
		}
	}
	// An int becomes a float64 in storage.
	if a, _ := f.named("tool", map[string]any{"a": 1}); a != must(f.named("tool", map[string]any{"a": 1.0})) {
		t.Error("storage changes a fingerprint")
	}
	for name, v := range map[string]any{"a cycle": loop, "a type of the app's": opaque{}, "in a list": []any{opaque{}}, "in an object": map[string]any{"x": opaque{}}} {
		if _, known := f.named("tool", map[string]any{"a": v}); known {
			t.Errorf("%s has a fingerprint", name)
		}
	}
}

func must(print uint64, _ bool) uint64 { return print }
