// Package scripted is a model of ADK that answers from a file, without a key and without a network. It is for demos,
// for tests of a terminal, and for learning what the layers of a session do.
//
// # The file
//
// A script has one JSON object per line. Empty lines, and those that begin with #, are comments. Each object is the
// response to one request of an agent:
//
//	{"text": "Good morning!"}
//	{"when": "order", "calls": [{"name": "lookup_order", "args": {"id": "A-1041"}}]}
//	{"when": "order", "text": "It arrives on 12 March."}
//	{"error": "the server is busy"}
//
//	text     what the model says
//	calls    tools that it calls, each with name and args
//	when     the response is only for requests whose newest message has this text; capital letters do not matter
//	error    the request fails with this text
//	delay    a pause before the response, as Go writes durations: "300ms"
//	chunk    streamed answers come in parts of so many characters; 0 means 12
//	usage    {"prompt": 1200, "output": 85, "cached": 0}: tokens that the model reports; without it, estimates
//
// Responses are played in their order. One with "when" waits until the newest message has its text, and comes before
// those without. When those without are at their end, they begin again.
package scripted

import (
	"bytes"
	"context"
	_ "embed" // of the demo
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

//go:embed demo.jsonl
var demo []byte

const defaultChunk = 12

// response is one line of a script.
type response struct {
	Text  string `json:"text"`
	Calls []struct {
		Name string         `json:"name"`
		Args map[string]any `json:"args"`
	} `json:"calls"`
	When  string `json:"when"`
	Error string `json:"error"`
	Delay string `json:"delay"`
	Chunk int    `json:"chunk"`
	Usage *struct {
		Prompt int32 `json:"prompt"`
		Output int32 `json:"output"`
		Cached int32 `json:"cached"`
	} `json:"usage"`

	delay time.Duration
	used  bool // of a response with When
}

// Model plays a script. It is safe for concurrent use: requests take turns.
type Model struct {
	name string

	mu      sync.Mutex
	cued    []*response // with When
	ordered []*response
	next    int
}

var _ model.LLM = (*Model)(nil)

// Demo returns a model that plays a short conversation.
func Demo(name string) *Model {
	m, err := New(name, demo)
	if err != nil {
		panic(err) // it is part of the program
	}
	return m
}

// New returns a model that plays a script. Its error names the line that cannot be read.
func New(name string, script []byte) (*Model, error) {
	m := &Model{name: name}
	for i, line := range bytes.Split(script, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("line %d: it is not UTF-8: save the script as UTF-8", i+1)
		}
		r, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if r.When != "" {
			m.cued = append(m.cued, r)
		} else {
			m.ordered = append(m.ordered, r)
		}
	}
	if len(m.ordered)+len(m.cued) == 0 {
		return nil, errors.New(`a script without responses: write one JSON object per line, such as {"text": "Hello!"}`)
	}
	return m, nil
}

func parse(line []byte) (*response, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	r := &response{}
	if err := d.Decode(r); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON object")
	}
	switch {
	case r.Text == "" && len(r.Calls) == 0 && r.Error == "":
		return nil, errors.New("a response needs text, calls or error")
	case r.Error != "" && (r.Text != "" || len(r.Calls) > 0):
		return nil, errors.New("an error comes without text and calls")
	case r.Chunk < 0:
		return nil, fmt.Errorf("chunk is %d: use a number of characters", r.Chunk)
	}
	for _, call := range r.Calls {
		if call.Name == "" {
			return nil, errors.New("a call needs a name")
		}
	}
	if r.Delay != "" {
		var err error
		if r.delay, err = time.ParseDuration(r.Delay); err != nil || r.delay < 0 {
			return nil, fmt.Errorf("delay is %q: write it as 300ms or 2s", r.Delay)
		}
	}
	return r, nil
}

// Name implements [model.LLM].
func (m *Model) Name() string { return m.name }

// GenerateContent implements [model.LLM]. A streamed answer comes in parts, and then once more as a whole.
func (m *Model) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		r := m.choose(req)
		if r == nil {
			yield(nil, fmt.Errorf("%s has no response to this message: add one without \"when\"", m.name))
			return
		}
		if r.delay > 0 {
			select {
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case <-time.After(r.delay):
			}
		}
		if r.Error != "" {
			yield(nil, errors.New(r.Error))
			return
		}
		if stream {
			for _, part := range parts(r.Text, r.Chunk) {
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if !yield(&model.LLMResponse{Content: genai.NewContentFromText(part, genai.RoleModel), Partial: true}, nil) {
					return
				}
			}
		}
		yield(m.whole(r, req), nil)
	}
}

// choose returns the next response, nil if there is none.
func (m *Model) choose(req *model.LLMRequest) *response {
	m.mu.Lock()
	defer m.mu.Unlock()
	newest := strings.ToLower(newestText(req))
	for _, r := range m.cued {
		if !r.used && strings.Contains(newest, strings.ToLower(r.When)) {
			r.used = true
			return r
		}
	}
	if len(m.ordered) == 0 {
		return nil
	}
	r := m.ordered[m.next%len(m.ordered)]
	m.next++
	return r
}

// newestText is the text of the newest message of a person, and "" if there is none.
func newestText(req *model.LLMRequest) string {
	for i := len(req.Contents) - 1; i >= 0; i-- {
		if c := req.Contents[i]; c != nil && c.Role == genai.RoleUser {
			var b strings.Builder
			for _, part := range c.Parts {
				if part != nil {
					b.WriteString(part.Text)
				}
			}
			if b.Len() > 0 {
				return b.String()
			}
		}
	}
	return ""
}

// whole is a response as ADK expects it.
func (m *Model) whole(r *response, req *model.LLMRequest) *model.LLMResponse {
	content := &genai.Content{Role: genai.RoleModel}
	if r.Text != "" {
		content.Parts = append(content.Parts, genai.NewPartFromText(r.Text))
	}
	for _, call := range r.Calls {
		content.Parts = append(content.Parts, genai.NewPartFromFunctionCall(call.Name, call.Args))
	}
	usage := &genai.GenerateContentResponseUsageMetadata{}
	if r.Usage != nil {
		usage.PromptTokenCount, usage.CandidatesTokenCount, usage.CachedContentTokenCount = r.Usage.Prompt, r.Usage.Output, r.Usage.Cached
	} else {
		usage.PromptTokenCount = int32(promptTokens(req))
		usage.CandidatesTokenCount = int32(tokens.OfContent(content))
	}
	usage.TotalTokenCount = usage.PromptTokenCount + usage.CandidatesTokenCount
	return &model.LLMResponse{Content: content, UsageMetadata: usage, ModelVersion: m.name, FinishReason: genai.FinishReasonStop, TurnComplete: true}
}

// promptTokens estimates the size of a request: its contents, instruction and declarations.
func promptTokens(req *model.LLMRequest) (n int) {
	for _, c := range req.Contents {
		n += tokens.OfContent(c)
	}
	if req.Config == nil {
		return n
	}
	n += tokens.OfContent(req.Config.SystemInstruction)
	for _, tool := range req.Config.Tools {
		if b, err := json.Marshal(tool); err == nil {
			n += tokens.Estimate(string(b))
		}
	}
	return n
}

// parts cuts a text into pieces of so many characters.
func parts(text string, chunk int) (out []string) {
	if chunk == 0 {
		chunk = defaultChunk
	}
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(chunk, len(runes))
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return out
}
