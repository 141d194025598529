package replay

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// gauge measures the requests of one run, one after the other. It remembers the size of every
// content, so a prompt of a thousand contents costs a thousand hashes, and an estimate only for new
// ones.
type gauge struct {
	seed  maphash.Seed
	known map[uint64]int // identity of a content -> estimated tokens
	last  []uint64       // identities of the contents of the last request
	tools map[string]int // name of a declaration -> estimated tokens
}

// measured is one request, in estimated tokens.
type measured struct {
	// size is the whole prompt. prefix is the part at its start that is the same as in the request
	// before, which a provider's cache can serve.
	size, prefix int
	// added is the part of size that declarations of layers take up.
	added int
	// orphans counts calls without a response and responses without a call.
	orphans int
}

func newGauge() *gauge {
	return &gauge{seed: maphash.MakeSeed(), known: map[uint64]int{}, tools: map[string]int{}}
}

// measure measures the next request. For example, the requests [A B], [A B C] and [S C] have the
// prefixes 0, size of A and B, and 0.
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
	if req.Config != nil {
		if req.Config.SystemInstruction != nil {
			add(req.Config.SystemInstruction)
		}
		m.added = g.addedTools(req.Config.Tools)
		m.size += m.added
	}
	for _, c := range req.Contents {
		add(c)
	}
	m.orphans = orphans(req.Contents)
	g.last = seen
	return m
}

// addedTools is the size of the declarations of tools that the recording does not have: those that a
// layer offers. The recorded tools are part of [Fixed].
func (g *gauge) addedTools(tools []*genai.Tool) int {
	size := 0
	for _, t := range tools {
		for _, d := range t.FunctionDeclarations {
			if d.Description == recordedTool {
				continue
			}
			known, ok := g.tools[d.Name]
			if !ok {
				data, _ := json.Marshal(d) // a declaration without JSON counts as its name
				known = tokens.Estimate(d.Name + string(data))
				g.tools[d.Name] = known
			}
			size += known
		}
	}
	return size
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
