package promptsize

import (
	"encoding/json"
	"hash/maphash"
	"math"

	"google.golang.org/genai"
)

// seed is that of all hashes. It differs from process to process, so hashes must never be stored.
var seed = maphash.MakeSeed()

// Limits of the walk over arguments and responses. Values that can be sent never reach them, but a
// value that contains itself does.
const (
	maxHashDepth  = 1000
	maxHashValues = 1 << 20
)

// mix combines two hashes so that every bit of both counts, and their order.
func mix(a, b uint64) uint64 {
	// The finalizer of MurmurHash3.
	h := a*0x9e3779b97f4a7c15 + b + 1
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func hashText(s string) uint64 { return maphash.String(seed, s) }

// Hash is a hash of all that a provider is sent of a content. It is the same for contents that are
// equal as JSON, whatever the types of their numbers and lists. It differs between processes. It
// neither allocates nor changes anything for contents as ADK makes them.
func Hash(c *genai.Content) uint64 {
	if c == nil {
		return 0
	}
	h := hashText(c.Role)
	for _, p := range c.Parts {
		h = mix(h, hashPart(p))
	}
	return h
}

// HashParts returns a hash of each part of a content, as [Hash] counts them, nil for a nil content.
func HashParts(c *genai.Content) []uint64 {
	if c == nil {
		return nil
	}
	out := make([]uint64, len(c.Parts))
	for i, p := range c.Parts {
		out[i] = hashPart(p)
	}
	return out
}

// hashPart hashes a part. A field that is not set does not matter.
func hashPart(p *genai.Part) uint64 {
	if p == nil {
		return 1
	}
	h := hashText(p.Text)
	add := func(kind uint64, hashes ...uint64) {
		h = mix(h, kind)
		for _, more := range hashes {
			h = mix(h, more)
		}
	}
	if p.Thought {
		add(1)
	}
	if len(p.ThoughtSignature) > 0 {
		add(2, maphash.Bytes(seed, p.ThoughtSignature))
	}
	if call := p.FunctionCall; call != nil {
		add(3, hashText(call.ID), hashText(call.Name), hashObject(call.Args))
	}
	if r := p.FunctionResponse; r != nil {
		add(4, hashText(r.ID), hashText(r.Name), hashObject(r.Response))
		if len(r.Parts) > 0 {
			add(5, hashJSON(r.Parts))
		}
	}
	if d := p.InlineData; d != nil {
		add(6, hashText(d.MIMEType), maphash.Bytes(seed, d.Data))
	}
	if f := p.FileData; f != nil {
		add(7, hashText(f.MIMEType), hashText(f.FileURI))
	}
	if p.ExecutableCode != nil || p.CodeExecutionResult != nil || p.VideoMetadata != nil || p.ToolCall != nil ||
		p.ToolResponse != nil || p.MediaResolution != nil {
		rare := *p
		rare.Text, rare.FunctionCall, rare.FunctionResponse, rare.InlineData = "", nil, nil, nil
		add(8, hashJSON(rare))
	}
	return h
}

// hashBuiltIn hashes what a tool has besides function declarations, 0 for a tool of functions only.
func hashBuiltIn(t *genai.Tool) uint64 {
	rest := *t
	rest.FunctionDeclarations = nil
	if rest.Retrieval == nil && rest.ComputerUse == nil && rest.FileSearch == nil && rest.GoogleSearch == nil &&
		rest.GoogleMaps == nil && rest.CodeExecution == nil && rest.EnterpriseWebSearch == nil &&
		rest.GoogleSearchRetrieval == nil && rest.ParallelAISearch == nil && rest.URLContext == nil && rest.MCPServers == nil {
		return 0
	}
	return hashJSON(rest)
}

// hashJSON hashes the JSON of a value, 0 for a value that has none.
func hashJSON(v any) uint64 {
	data, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return maphash.Bytes(seed, data)
}

// hashObject hashes arguments or a response. Nil and empty are equal, as they are to providers.
func hashObject(m map[string]any) uint64 {
	if len(m) == 0 {
		return 2
	}
	w := hashWalk{left: maxHashValues}
	h := w.object(m, 0)
	if w.left < 0 {
		return 3 // where the walk has ended depends on the order of maps
	}
	return h
}

// hashWalk walks a value as JSON has it. Entries of a map are added up, so that their order does not
// matter and needs no sorting.
type hashWalk struct{ left int }

func (w *hashWalk) value(v any, depth int) uint64 {
	if w.left--; w.left < 0 || depth > maxHashDepth {
		return 3
	}
	switch v := v.(type) {
	case nil:
		return 4
	case string:
		return hashText(v)
	case bool:
		if v {
			return 5
		}
		return 6
	case float64:
		return hashNumber(v)
	case int:
		return hashNumber(float64(v))
	case int64:
		return hashNumber(float64(v))
	case map[string]any:
		return w.object(v, depth)
	case []any:
		h := uint64(7)
		for _, item := range v {
			h = mix(h, w.value(item, depth+1))
		}
		return h
	case []string:
		h := uint64(7)
		for _, item := range v {
			h = mix(h, hashText(item))
		}
		return h
	}
	data, err := json.Marshal(v)
	if err != nil {
		return 8
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		return 8
	}
	return w.value(plain, depth+1)
}

func (w *hashWalk) object(m map[string]any, depth int) uint64 {
	sum := uint64(len(m))
	for key, item := range m {
		sum += mix(hashText(key), w.value(item, depth+1))
	}
	return mix(10, sum)
}

func hashNumber(f float64) uint64 { return mix(9, math.Float64bits(f)) }
