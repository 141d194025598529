package replay

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// gauge measures requests of one way of playing a conversation. It remembers what a content takes, so
// that a long prompt costs a hash of its text and not a count.
type gauge struct {
	seed  maphash.Seed
	known map[uint64]int
	last  []uint64
}

// measured is one request, in estimated tokens.
type measured struct {
	// size is the whole prompt, prefix the part at its start that is the same as in the request before.
	size, prefix int
	// orphans is how many calls without a response and responses without a call there are.
	orphans int
}

func newGauge() *gauge {
	return &gauge{seed: maphash.MakeSeed(), known: map[uint64]int{}}
}

// measure takes the next request.
func (g *gauge) measure(req *model.LLMRequest) measured {
	var m measured
	var seen []uint64
	same := true
	add := func(c *genai.Content) {
		id := g.identity(c)
		size, ok := g.known[id]
		if !ok {
			size = tokens.OfContent(c)
			g.known[id] = size
		}
		same = same && len(seen) < len(g.last) && g.last[len(seen)] == id
		seen = append(seen, id)
		m.size += size
		if same {
			m.prefix += size
		}
	}
	if req.Config != nil && req.Config.SystemInstruction != nil {
		add(req.Config.SystemInstruction)
	}
	for _, c := range req.Contents {
		add(c)
	}
	m.orphans = orphans(req.Contents)
	g.last = seen
	return m
}

// orphans counts calls and responses that have no other side in a request. One without an ID goes by
// its name.
func orphans(contents []*genai.Content) int {
	open := map[string]int{}
	strays := 0
	for _, c := range contents {
		for _, p := range parts(c) {
			if call := p.FunctionCall; call != nil {
				open[call.ID+"\x00"+call.Name]++
			}
			if resp := p.FunctionResponse; resp != nil {
				key := resp.ID + "\x00" + resp.Name
				if open[key] == 0 {
					strays++
					continue
				}
				open[key]--
			}
		}
	}
	for _, n := range open {
		strays += n
	}
	return strays
}

// parts are those of c that are not nil.
func parts(c *genai.Content) []*genai.Part {
	if c == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Parts), func(p *genai.Part) bool { return p == nil })
}

// identity tells contents apart by all that a prompt shows of them.
func (g *gauge) identity(c *genai.Content) uint64 {
	var h maphash.Hash
	h.SetSeed(g.seed)
	if c == nil {
		return h.Sum64()
	}
	text := func(s string) {
		_, _ = h.WriteString(s) // a hash never fails to write
		_ = h.WriteByte(0)
	}
	text(c.Role)
	for _, p := range parts(c) {
		text(p.Text)
		if p.Thought {
			text("thought")
		}
		if call := p.FunctionCall; call != nil {
			text("call")
			text(call.ID)
			text(call.Name)
			writeValue(&h, call.Args)
		}
		if resp := p.FunctionResponse; resp != nil {
			text("response")
			text(resp.ID)
			text(resp.Name)
			writeValue(&h, resp.Response)
		}
		if blob := p.InlineData; blob != nil {
			text("blob")
			text(blob.MIMEType)
			_, _ = h.Write(blob.Data)
		}
		if file := p.FileData; file != nil {
			text("file")
			text(file.MIMEType)
			text(file.FileURI)
		}
		if code := p.ExecutableCode; code != nil {
			text("code")
			text(code.Code)
		}
		if result := p.CodeExecutionResult; result != nil {
			text("output")
			text(result.Output)
		}
	}
	return h.Sum64()
}

// writeValue writes a JSON value, its keys in order.
func writeValue(h *maphash.Hash, v any) {
	switch v := v.(type) {
	case map[string]any:
		_ = h.WriteByte('{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			_, _ = h.WriteString(key)
			_ = h.WriteByte(':')
			writeValue(h, v[key])
		}
		_ = h.WriteByte('}')
	case []any:
		_ = h.WriteByte('[')
		for _, item := range v {
			writeValue(h, item)
		}
		_ = h.WriteByte(']')
	case string:
		_, _ = h.WriteString(v)
		_ = h.WriteByte('"')
	case nil:
		_ = h.WriteByte('0')
	default:
		fmt.Fprintf(h, "%T %v", v, v)
	}
}
