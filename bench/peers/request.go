package main

import (
	"bytes"
	"encoding/json"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

// watch looks at the requests of one conversation under one way, as the model gets them.
type watch struct {
	planted *planted
	window  int
	seen    figures
	// known are the contents of earlier requests, by their JSON.
	known map[string]*content
	last  []*content
}

// content is one content of a prompt, as it is sent.
type content struct {
	json   []byte
	tokens int
	facts  []string
}

func newWatch(p *planted, window int) *watch {
	return &watch{planted: p, window: window, known: map[string]*content{}}
}

// request takes the next request and returns its size in tokens.
func (w *watch) request(call int, req *model.LLMRequest) int {
	contents := make([]*content, len(req.Contents))
	shown := map[string]bool{}
	size := 0
	for i, c := range req.Contents {
		contents[i] = w.of(c)
		size += contents[i].tokens
		for _, fact := range contents[i].facts {
			shown[fact] = true
		}
	}
	if req.Config != nil {
		size += tokens.OfContent(req.Config.SystemInstruction)
	}
	w.seen.requests++
	w.seen.prompt += size
	w.seen.largest = max(w.seen.largest, size)
	if size > w.window {
		w.seen.over++
	}
	w.seen.orphans += orphans(req.Contents)
	w.facts(call, shown)
	w.prefix(contents)
	return size
}

// facts compares what a request shows with what was said before it.
func (w *watch) facts(call int, shown map[string]bool) {
	p := w.planted
	if call >= len(p.said) {
		return // more calls than were recorded: play reports it
	}
	lacks := func(fact string) bool { return !shown[fact] }
	if slices.ContainsFunc(p.users[:p.said[call]], lacks) {
		w.seen.missing++
	}
	newest := 0
	if call > 0 {
		newest = p.answered[call-1]
	}
	for _, fact := range p.results[newest:p.answered[call]] {
		if lacks(fact) {
			w.seen.unread++
		}
	}
	w.seen.results, w.seen.kept = p.answered[call], 0
	for _, fact := range p.results[:p.answered[call]] {
		if !lacks(fact) {
			w.seen.kept++
		}
	}
}

// prefix compares a request with the one before, byte for byte.
func (w *watch) prefix(contents []*content) {
	same := true
	for i, before := range w.last {
		w.seen.before += len(before.json)
		switch {
		case !same:
		case i < len(contents) && bytes.Equal(before.json, contents[i].json):
			w.seen.same += len(before.json)
		case i < len(contents):
			w.seen.same += common(before.json, contents[i].json)
			same = false
		default:
			same = false
		}
	}
	w.last = contents
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// of returns c as it is sent. Prompts repeat each other, so each content is looked into once.
func (w *watch) of(c *genai.Content) *content {
	data, err := json.Marshal(c)
	if err != nil {
		// Only a value that no provider could be sent either.
		return &content{tokens: tokens.OfContent(c)}
	}
	if known, ok := w.known[string(data)]; ok {
		return known
	}
	made := &content{json: data, tokens: tokens.OfContent(c), facts: compactiontest.Facts(string(data))}
	w.known[string(data)] = made
	return made
}

// orphans counts the calls without a response and the responses without a call before them, which
// providers refuse.
func orphans(contents []*genai.Content) int {
	type call struct{ id, name string }
	open := map[call]int{}
	strays := 0
	for _, c := range contents {
		for _, part := range c.Parts {
			if f := part.FunctionCall; f != nil {
				open[call{f.ID, f.Name}]++
			}
			if f := part.FunctionResponse; f != nil {
				if open[call{f.ID, f.Name}]--; open[call{f.ID, f.Name}] < 0 {
					open[call{f.ID, f.Name}] = 0
					strays++
				}
			}
		}
	}
	for _, n := range open {
		strays += n
	}
	return strays
}
