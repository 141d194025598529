package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/achetronic/adk-utils-go/plugin/contextguard"

	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/bench/guarded"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// codingWindows are windows of the coding agents' model in tokens, small enough for many compactions.
var codingWindows = []int{32_000, 8_000}

// files counts the files that coding agents name again: each file that a call has in its arguments, and that an
// earlier message had.
type files struct {
	again int // named again
	there int // of these, in the prompt of that call
	// behind are those that no raw message of the prompt names, because all that named them were summarized.
	behind      int
	behindThere int
	prompt      int // tokens of all prompts
	calls       int
}

func (f files) add(o files) files {
	return files{f.again + o.again, f.there + o.there, f.behind + o.behind, f.behindThere + o.behindThere, f.prompt + o.prompt, f.calls + o.calls}
}

// codingWay is a way of keeping coding sessions short.
type codingWay struct {
	name string
	open codingOpener
}

// codingOpener prepares a service and plugins for one session, and returns what ends them.
type codingOpener func() (svc session.Service, plugins []*plugin.Plugin, end func(context.Context) error, err error)

// Names of the ways that are compared with each other.
const (
	noLedger   = "longsession, no ledger"
	ourDefault = "longsession"
)

func codingWays(window int) []codingWay {
	return []codingWay{
		{"contextguard, threshold", guardCoding(window)},
		{"contextguard, sliding window of 20", guardCoding(window, contextguard.WithSlidingWindow(guardWindow))},
		{noLedger, ourCoding(window, withLedger(config(), compaction.Off))},
		{ourDefault, ourCoding(window, config())},
	}
}

func guardCoding(window int, opts ...contextguard.AgentOption) codingOpener {
	return func() (session.Service, []*plugin.Plugin, func(context.Context) error, error) {
		return session.InMemoryService(), guarded.Plugins([]string{replay.AgentName}, digester{}, window, opts...), nothingElse, nil
	}
}

func nothingElse(context.Context) error { return nil }

func ourCoding(window int, cfg compaction.Config) codingOpener {
	return func() (session.Service, []*plugin.Plugin, func(context.Context) error, error) {
		cfg.ContextWindow = window
		svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
		if err != nil {
			return nil, nil, nil, err
		}
		return svc, nil, svc.Close, nil
	}
}

func readCoding(dir string) ([]*conversation.Conversation, error) {
	return conversation.ReadFile(filepath.Join(dir, codingFile))
}

// filesNamed plays the conversations one way.
func filesNamed(ctx context.Context, conversations []*conversation.Conversation, way codingWay) (sum files, err error) {
	for _, c := range conversations {
		svc, plugins, end, err := way.open()
		if err != nil {
			return files{}, err
		}
		w := &naming{c: c, raw: map[string]bool{}}
		app := replay.App{
			Service: svc, Plugins: plugins, Ref: refOf(c.ID),
			Before:  func(_ context.Context, turn, step int) error { w.turn, w.step = turn, step; return nil },
			Request: func(_, _ int, req *model.LLMRequest) int { return w.request(req) },
		}
		_, err = app.Run(ctx, c)
		if err = errors.Join(err, end(ctx)); err != nil {
			return files{}, fmt.Errorf("%s: %s: %w", way.name, c.ID, err)
		}
		sum = sum.add(w.files)
	}
	return sum, nil
}

// naming looks for files in the requests of one conversation.
type naming struct {
	files
	c          *conversation.Conversation
	turn, step int
	turns      int // turns whose messages are in raw
	steps      int // and steps of the turn after these
	// raw are the texts of the messages so far, as they were said, and all is all of them.
	raw map[string]bool
	all []string
}

func (w *naming) request(req *model.LLMRequest) int {
	w.catchUp()
	size := 0
	var raw, rest []string
	for _, c := range req.Contents {
		text := textOf(c)
		size += contentSize(c)
		if w.raw[text] {
			raw = append(raw, text)
		} else {
			rest = append(rest, text)
		}
	}
	w.prompt += size
	w.calls++
	for _, file := range named(w.next()) {
		if !mentions(w.all, file) {
			continue
		}
		w.again++
		inRaw := mentions(raw, file)
		there := inRaw || mentions(rest, file)
		if there {
			w.there++
		}
		if !inRaw {
			w.behind++
			if there {
				w.behindThere++
			}
		}
	}
	return size
}

// next is the answer that the recording has to the request.
func (w *naming) next() *genai.Content {
	if steps := w.c.Turns[w.turn].Steps; w.step < len(steps) {
		return steps[w.step].Answer
	}
	return nil
}

// catchUp takes in the messages before the request.
func (w *naming) catchUp() {
	add := func(c *genai.Content) {
		text := textOf(c)
		w.raw[text], w.all = true, append(w.all, text)
	}
	for ; w.turns <= w.turn; w.turns, w.steps = w.turns+1, 0 {
		t := w.c.Turns[w.turns]
		if w.steps == 0 {
			add(t.User)
			w.steps = 1
		}
		for ; w.steps <= len(t.Steps) && (w.turns < w.turn || w.steps <= w.step); w.steps++ {
			s := t.Steps[w.steps-1]
			add(s.Answer)
			results := &genai.Content{}
			for _, response := range s.Responses {
				results.Parts = append(results.Parts, &genai.Part{FunctionResponse: response})
				add(&genai.Content{Parts: []*genai.Part{{FunctionResponse: response}}})
			}
			add(results)
		}
		if w.turns == w.turn {
			return
		}
	}
}

// textOf is all text of a content: what was said, the arguments of calls, and responses.
func textOf(c *genai.Content) string {
	var b strings.Builder
	if c == nil {
		return ""
	}
	for _, p := range c.Parts {
		b.WriteString(p.Text + "\n")
		if p.FunctionCall != nil {
			writeJSON(&b, p.FunctionCall.Args)
		}
		if p.FunctionResponse != nil {
			writeJSON(&b, p.FunctionResponse.Response)
		}
	}
	return b.String()
}

func writeJSON(b *strings.Builder, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return // no provider would accept it either
	}
	b.Write(data)
	b.WriteByte('\n')
}

// filePattern matches a path with a name that ends in an extension.
var filePattern = regexp.MustCompile(`(?:[\w.@+~-]*/)+[\w.@+-]*\.[A-Za-z]\w{0,7}\b`)

// named are the files in the arguments of the calls of an answer, each once.
func named(answer *genai.Content) []string {
	if answer == nil {
		return nil
	}
	var found []string
	for _, part := range answer.Parts {
		if part.FunctionCall == nil {
			continue
		}
		var b strings.Builder
		writeJSON(&b, part.FunctionCall.Args)
		found = append(found, filePattern.FindAllString(b.String(), -1)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// mentions reports whether one of the texts has the path of a file.
func mentions(texts []string, file string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, file) })
}
