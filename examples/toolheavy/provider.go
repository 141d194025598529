package main

import (
	"encoding/json"
	"strings"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// provider is the other side of the model calls. It counts what it receives, and knows nothing of layers.
type provider struct {
	window int

	requests, sent, largest int // model calls, tokens of all prompts, and of the largest
	over                    int // prompts that do not fit into the window
	cached                  int // tokens that the prompt before had already, at its beginning
	breaks                  int // prompts that do not begin with the whole prompt before
	before                  []string
}

// receive counts a request and returns its size in tokens.
func (p *provider) receive(req *model.LLMRequest) int {
	parts := []string{encode(req.Config)}
	for _, content := range req.Contents {
		parts = append(parts, encode(content))
	}
	size, same := 0, true
	for i, part := range parts {
		n := tokens.Estimate(part)
		size += n
		if same = same && i < len(p.before) && p.before[i] == part; same {
			p.cached += n
		}
	}
	if p.before != nil && !strings.HasPrefix(strings.Join(parts, ""), strings.Join(p.before, "")) {
		p.breaks++
	}
	p.before = parts
	p.requests++
	p.sent += size
	p.largest = max(p.largest, size)
	if size > p.window {
		p.over++
	}
	return size
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
