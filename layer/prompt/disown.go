package prompt

import (
	"maps"
	"slices"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// disown keeps results of tools from having what looks like a note. ADK's own tools are left out, because ADK
// reads their results.
func disown(parts []*genai.Part) {
	for _, p := range parts {
		if p == nil || p.FunctionResponse == nil || adk.IsExempt(p.FunctionResponse.Name) {
			continue
		}
		if response, differs := disowned(p.FunctionResponse.Response); differs {
			p.FunctionResponse.Response = response
		}
	}
}

// disowned returns a result in which the keys of notes are renamed, and no text looks like a note. It returns
// response itself if nothing differs.
func disowned(response map[string]any) (out map[string]any, differs bool) {
	out, differs = new(cleaner).cleanMap(response)
	for _, kind := range kinds {
		value, taken := out[kind.Key]
		if !taken {
			continue
		}
		if !differs {
			out, differs = maps.Clone(out), true
		}
		delete(out, kind.Key)
		out[freeKey(out, "tool_"+kind.Key)] = value
	}
	return out, differs
}

// freeKey returns a key that a map does not have yet.
func freeKey(m map[string]any, key string) string {
	for _, taken := m[key]; taken; _, taken = m[key] {
		key = "tool_" + key
	}
	return key
}

// maxDepth is how deep encoding/json reads values. A deeper one contains itself.
const maxDepth = 10_000

// cleaner keeps values of JSON from having texts and keys that look like a note.
type cleaner struct {
	depth   int
	endless bool // the value contains itself, and the rest of it is left as it is
}

// clean returns v itself if nothing differs.
func (c *cleaner) clean(v any) (any, bool) {
	if c.depth++; c.depth > maxDepth {
		c.endless = true
	}
	defer func() { c.depth-- }()
	if c.endless {
		return v, false
	}
	switch value := v.(type) {
	case string:
		if text := notes.Clean(value); text != value {
			return text, true
		}
	case map[string]any:
		return c.cleanMap(value)
	case []any:
		if list, differs := c.cleanList(value); differs {
			return list, true
		}
	}
	return v, false
}

func (c *cleaner) cleanMap(m map[string]any) (out map[string]any, differs bool) {
	out = m
	set := func(key string, value any) {
		if !differs {
			out, differs = maps.Clone(m), true
		}
		out[key] = value
	}
	var renamed []string
	for key, value := range m {
		if cleaned, other := c.clean(value); other {
			set(key, cleaned)
		}
		if notes.Clean(key) != key {
			renamed = append(renamed, key)
		}
	}
	slices.Sort(renamed) // two keys may become the same
	for _, key := range renamed {
		value := out[key]
		set(key, value)
		delete(out, key)
		out[freeKey(out, notes.Clean(key))] = value
	}
	return out, differs
}

func (c *cleaner) cleanList(list []any) (out []any, differs bool) {
	out = list
	for i, value := range list {
		if cleaned, other := c.clean(value); other {
			if !differs {
				out, differs = slices.Clone(list), true
			}
			out[i] = cleaned
		}
	}
	return out, differs
}
