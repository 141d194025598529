package main

import (
	"encoding/json"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// watch measures the requests of one conversation played one way, as the model receives them.
type watch struct {
	planted *planted
	writer  *oracle
	window  int
	seen    figures
	// known holds the contents of earlier requests by their JSON.
	known map[string]*content
	last  []*content
	// aside has the whole results if the session is not the app's; else nil.
	aside store.Source
	// refs has the references to whole results in the newest request, and readable the numbers of the
	// results that it has a reference of, and no more.
	refs     map[string]bool
	readable []int
}

// content is one content of a prompt as it is sent.
type content struct {
	json   []byte
	tokens int
	marks  map[int]pieces
	refs   []string
}

func newWatch(p *planted, writer *oracle, window int) *watch {
	return &watch{planted: p, writer: writer, window: window, known: map[string]*content{}, refs: map[string]bool{}}
}

// request measures the next request of the given turn and returns its size in tokens.
func (w *watch) request(call, turn int, req *model.LLMRequest) int {
	contents := make([]*content, len(req.Contents))
	shown := map[int]pieces{}
	clear(w.refs)
	size := 0
	for i, c := range req.Contents {
		contents[i] = w.of(c)
		size += contents[i].tokens
		for number, found := range contents[i].marks {
			shown[number] |= found
		}
		for _, ref := range contents[i].refs {
			w.refs[ref] = true
		}
	}
	instruction := 0
	if req.Config != nil {
		instruction = tokens.OfContent(req.Config.SystemInstruction)
		size += instruction
	}
	w.seen.requests++
	w.seen.prompt += size
	w.seen.largest = max(w.seen.largest, size)
	if size > w.window {
		w.seen.over++
		if w.least(turn, req) <= w.window {
			w.seen.avoidable++
		}
	}
	w.seen.orphans += orphans(req.Contents)
	for _, number := range w.planted.others {
		if shown[number] != 0 {
			w.seen.leaked++
		}
	}
	w.compare(call, shown, w.window-w.window/leftForAnswer-w.fixed(turn, req))
	w.prefix(contents, instruction)
	return size
}

// compare compares a request with the messages and results before it. room is for what the model has not read yet.
func (w *watch) compare(call int, shown map[int]pieces, room int) {
	p := w.planted
	if call >= len(p.said) {
		return // more calls than were recorded, which play reports
	}
	lacks := func(number int) bool { return shown[number] != whole }
	lost := func(number int) bool { return lacks(number) && w.writer.why(number) == none }
	if said := p.users[:p.said[call]]; slices.ContainsFunc(said, lacks) {
		w.seen.missing++
		if !slices.ContainsFunc(said, lost) {
			w.seen.missingCut++
		}
	}
	newest := 0
	if call > 0 {
		newest = p.answered[call-1]
	}
	answers := p.results[newest:p.answered[call]]
	for _, number := range answers {
		room -= p.sizes[number]
	}
	for _, number := range answers {
		if lacks(number) && !w.refs[p.refs[number]] {
			w.seen.unread++
			if room < 0 && shown[number] != 0 {
				w.seen.trimmed++
			}
		}
	}
	w.seen.results, w.seen.kept, w.seen.cut, w.seen.roughly = p.answered[call], 0, 0, 0
	w.readable = w.readable[:0]
	for _, number := range p.results[:p.answered[call]] {
		switch why := w.writer.why(number); {
		case !lacks(number):
			w.seen.kept++
		case w.refs[p.refs[number]]:
			w.readable = append(w.readable, number)
		case why == cut:
			w.seen.cut++
		case why == rough:
			w.seen.roughly++
		}
	}
}

// of returns c as it is sent. Prompts repeat contents, so it examines each content once.
func (w *watch) of(c *genai.Content) *content {
	data, err := json.Marshal(c)
	if err != nil {
		// No provider would accept such a value either.
		return &content{tokens: tokens.OfContent(c)}
	}
	if known, ok := w.known[string(data)]; ok {
		return known
	}
	made := &content{json: data, tokens: tokens.OfContent(c), marks: marks(data), refs: refs(data)}
	w.known[string(data)] = made
	return made
}
