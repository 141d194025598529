package main

import (
	"encoding/json"
	"fmt"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// provider is the other side of the model calls. It counts what it receives, in the order in which
// Anthropic's API reads a prompt: tools, system instruction, messages. Its cache serves what the request
// begins with exactly as the one before did.
type provider struct {
	requests, sent, cached int // model calls, tokens of all prompts, and those that the cache served
	declared               int // tokens of tool declarations
	written                int // tokens of replies
	breaks                 int // prompts that do not begin with the whole prompt before
	before                 []string

	turnBegins bool // set by the player of a turn
	first      int  // those of cached that belong to the first prompt of a turn
}

// receive counts a request.
func (p *provider) receive(req *model.LLMRequest) {
	var parts []string
	for _, t := range req.Config.Tools {
		for _, decl := range t.FunctionDeclarations {
			parts = append(parts, encode(decl))
		}
	}
	tools := len(parts)
	parts = append(parts, encode(req.Config.SystemInstruction))
	for _, content := range req.Contents {
		parts = append(parts, encode(content))
	}
	same, cached := 0, 0
	for i, part := range parts {
		n := tokens.Estimate(part)
		p.sent += n
		if i < tools {
			p.declared += n
		}
		if same == i && i < len(p.before) && p.before[i] == part {
			same++
			cached += n
		}
	}
	p.cached += cached
	if p.turnBegins {
		p.first += cached
		p.turnBegins = false
	}
	if same < len(p.before) {
		p.breaks++
	}
	p.before = parts
	p.requests++
}

// price is in dollars for a million tokens.
type price struct{ input, cached, output float64 }

func priceOf(name string) (price, error) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		return price{}, err
	}
	m, ok := registry.Lookup(name)
	if !ok || !m.Priced() || m.CachedInputPrice == 0 {
		return price{}, fmt.Errorf("the prices of %q are not known", name)
	}
	return price{m.InputPrice, m.CachedInputPrice, m.OutputPrice}, nil
}

// of is what a game costs in dollars, if the cache has served so many tokens. Writing to a cache is not
// charged, as with most providers.
func (p price) of(g *game, cached int) float64 {
	return (p.input*float64(g.sent-cached) + p.cached*float64(cached) + p.output*float64(g.written)) / 1e6
}

// warm is the price if the cache holds from turn to turn, and cold if the user takes longer for each
// question than the provider keeps its cache, five minutes for example.
func (p price) warm(g *game) float64 { return p.of(g, g.cached) }
func (p price) cold(g *game) float64 { return p.of(g, g.cached-g.first) }

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
