package replay

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// gauge measures the requests of one run, one after the other. It remembers the size of every
// content, so a prompt of a thousand contents costs a thousand hashes, and an estimate only for new
// ones.
type gauge struct {
	seed  maphash.Seed
	known map[uint64]int // identity of a content -> estimated tokens
	last  []uint64       // identities of the instruction, the declarations and the contents of the last request
}

// measured is one request, in estimated tokens.
type measured struct {
	// size is the whole prompt. prefix is the part at its start that is the same as in the request
	// before, which a provider's cache can serve.
	size, prefix int
	// declared is the part of size that declarations take up.
	declared int
	// orphans counts calls without a response and responses without a call.
	orphans int
}

func newGauge() *gauge {
	return &gauge{seed: maphash.MakeSeed(), known: map[uint64]int{}}
}

// measure measures the next request. For example, the requests [A B], [A B C] and [S C] have the
// prefixes 0, size of A and B, and 0.
func (g *gauge) measure(req *model.LLMRequest) measured {
	var m measured
	var seen []uint64
	same := true
	count := func(id uint64, size int) {
		same = same && len(seen) < len(g.last) && g.last[len(seen)] == id
		seen = append(seen, id)
		m.size += size
		if same {
			m.prefix += size
		}
	}
	add := func(c *genai.Content) {
		id := g.identity(c)
		size, ok := g.known[id]
		if !ok {
			size = tokens.OfContent(c)
			g.known[id] = size
		}
		count(id, size)
	}
	if req.Config != nil {
		if req.Config.SystemInstruction != nil {
			add(req.Config.SystemInstruction)
		}
		size, hash := declarations(req.Config.Tools)
		m.declared = size
		count(hash, size)
	}
	for _, c := range req.Contents {
		add(c)
	}
	m.orphans = orphans(req.Contents)
	g.last = seen
	return m
}

// declarations is the size of the declarations of a request, and a hash of what a provider is sent of them.
// Tools that a recording calls and does not declare have no size: they are part of [Fixed].
func declarations(tools []*genai.Tool) (size int, hash uint64) {
	size, hash = promptsize.OfTools(tools)
	for _, t := range tools {
		calledOnly := &genai.Tool{FunctionDeclarations: slices.DeleteFunc(slices.Clone(t.FunctionDeclarations), func(d *genai.FunctionDeclaration) bool {
			return d.Description != recordedTool
		})}
		less, _ := promptsize.OfTools([]*genai.Tool{calledOnly})
		size -= less
	}
	return size, hash
}

// orphans counts the calls and responses of a request that have no counterpart. One without an ID
// is matched by its name.
func orphans(contents []*genai.Content) int {
	open := map[string]int{}
	count := 0
	for _, c := range contents {
		for _, p := range parts(c) {
			if call := p.FunctionCall; call != nil {
				open[call.ID+"\x00"+call.Name]++
			}
			if resp := p.FunctionResponse; resp != nil {
				key := resp.ID + "\x00" + resp.Name
				if open[key] == 0 {
					count++
					continue
				}
				open[key]--
			}
		}
	}
	for _, n := range open {
		count += n
	}
	return count
}

// parts returns the parts of c that are not nil.
func parts(c *genai.Content) []*genai.Part {
	if c == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Parts), func(p *genai.Part) bool { return p == nil })
}

// identity is a hash of everything that a prompt shows of a content.
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

// writeValue hashes a JSON value, with sorted keys.
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
