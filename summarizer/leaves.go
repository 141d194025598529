package summarizer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

const (
	maxLeaves    = 64 // scalars read from a call's arguments, and as many from its response
	maxKeyValues = 4  // scalars shown of each
	maxKeyValue  = 48 // runes per scalar
)

// keyValues returns the most useful scalars of an object: first those with a concrete value, then
// the others, each group sorted by key. For example, {"city": "Oslo", "id": "A-17"} gives id=A-17,
// city=Oslo.
func keyValues(m map[string]any) []string {
	var telling, plain []string
	left := maxLeaves
	walkLeaves("", m, &left, func(key, value string) {
		head := value[:runeOffset(value, maxKeyValue)]
		kv := escape(head)
		if len(head) < len(value) {
			kv += "…"
		}
		if key != "" {
			kv = label(key, "") + "=" + kv
		}
		if len(concreteValues(head)) > 0 {
			telling = append(telling, kv)
		} else {
			plain = append(plain, kv)
		}
	})
	all := append(telling, plain...)
	return all[:min(len(all), maxKeyValues)]
}

// walkLeaves visits at most left scalars of a JSON-like value, in the order of their keys.
func walkLeaves(key string, v any, left *int, visit func(key, value string)) {
	if *left <= 0 {
		return
	}
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			*left-- // empty and cyclic containers count too
			walkLeaves(k, v[k], left, visit)
		}
	case []any:
		for _, e := range v {
			*left--
			walkLeaves(key, e, left, visit)
			if *left <= 0 {
				return
			}
		}
	case string:
		if inner := jsonIn(v); inner != nil {
			walkLeaves(key, inner, left, visit)
		} else if !blank(v) {
			visit(key, v)
		}
	default:
		if text, err := encode(v); err == nil {
			visit(key, text)
		}
	}
}

// jsonIn returns the JSON object or array in a text, or nil if the text is not JSON. Many tools
// return their result as such a string.
func jsonIn(text string) (v any) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber() // an ID of twenty digits must not become a float
	if dec.Decode(&v) != nil || dec.InputOffset() != int64(len(text)) {
		return nil
	}
	return v
}
