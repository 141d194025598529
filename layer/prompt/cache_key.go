package prompt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"sync"

	"google.golang.org/genai"
)

// cacheKey names what is cached, and where.
type cacheKey struct {
	client any // a *genai.Client; nil for that of the config
	sum    [sha256.Size]byte
}

// keyBuffers are reused: a key of 70 KB is written for every request.
var keyBuffers = sync.Pool{New: func() any { return new(keyWriter) }}

// sumOf returns the SHA-256 of exactly what a cache holds: model, instruction, tools and tool config. It
// reports false for a config that has no JSON form.
func (d *schemaDigests) sumOf(model string, cfg *genai.GenerateContentConfig) (sum [sha256.Size]byte, ok bool) {
	w := keyBuffers.Get().(*keyWriter)
	defer keyBuffers.Put(w)
	w.buf, w.failed, w.digests = w.buf[:0], false, d
	w.text(model)
	w.content(cfg.SystemInstruction)
	w.number(len(cfg.Tools))
	for _, t := range cfg.Tools {
		w.tool(t)
	}
	w.json(cfg.ToolConfig, cfg.ToolConfig == nil)
	w.digests = nil
	return sha256.Sum256(w.buf), !w.failed
}

// keyWriter writes a form in which different values never have the same bytes: each text is preceded by its
// length, each list by its number of elements.
type keyWriter struct {
	buf     []byte
	failed  bool
	digests *schemaDigests
}

func (w *keyWriter) number(n int) { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(n)) }

func (w *keyWriter) text(s string) {
	w.number(len(s))
	w.buf = append(w.buf, s...)
}

// json writes a value as JSON, and a mark for one that is absent.
func (w *keyWriter) json(v any, absent bool) {
	if absent {
		w.number(-1)
		return
	}
	data, err := json.Marshal(v)
	w.failed = w.failed || err != nil
	w.number(len(data))
	w.buf = append(w.buf, data...)
}

func (w *keyWriter) content(c *genai.Content) {
	if c == nil {
		w.number(-1)
		return
	}
	w.text(c.Role)
	w.number(len(c.Parts))
	for _, p := range c.Parts {
		w.part(p)
	}
}

// part writes a part of an instruction, which nearly always is a text. JSON would take ten times as long.
func (w *keyWriter) part(p *genai.Part) {
	if p == nil {
		w.number(-1)
		return
	}
	w.text(p.Text)
	rest := *p
	rest.Text = ""
	w.json(&rest, reflect.ValueOf(&rest).Elem().IsZero())
}

// tool writes a tool, which nearly always is a list of functions.
func (w *keyWriter) tool(t *genai.Tool) {
	if t == nil {
		w.number(-1)
		return
	}
	w.number(len(t.FunctionDeclarations))
	for _, f := range t.FunctionDeclarations {
		w.function(f)
	}
	rest := *t
	rest.FunctionDeclarations = nil
	w.json(&rest, reflect.ValueOf(&rest).Elem().IsZero())
}

// function writes all fields of a declaration.
func (w *keyWriter) function(f *genai.FunctionDeclaration) {
	if f == nil {
		w.number(-1)
		return
	}
	w.text(f.Name)
	w.text(f.Description)
	w.text(string(f.Behavior))
	for _, schema := range [...]any{f.Parameters, f.ParametersJsonSchema, f.Response, f.ResponseJsonSchema} {
		sum, ok := w.digests.of(schema)
		w.failed = w.failed || !ok
		w.buf = append(w.buf, sum[:]...)
	}
}
