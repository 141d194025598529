package soak_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// counting counts the input of its summarizer.
type counting struct {
	writer        compaction.Summarizer
	calls, events int
}

func (c *counting) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	c.calls++
	c.events += len(req.Events)
	return c.writer.Summarize(ctx, req)
}

// watcher is the agent's model. It looks up a price in every third turn, and checks its prompts. It
// serves one session, which compacts within its turns, so it needs no lock.
type watcher struct {
	t       *testing.T
	number  int  // of the turn
	facts   bool // every question states a fact, which must be in every later prompt
	records int

	tokens   []int    // by prompt
	byTurn   []int    // of each turn's first prompt
	before   []string // the previous prompt, content by content
	at       int      // records at the time it was sent
	compared int
	most     int // summaries visible at once
	front    int // tokens of all summaries of one prompt, at most
}

func (w *watcher) Name() string { return "watcher" }

func (w *watcher) begin(turn int) { w.number = turn }

func (w *watcher) observe(_ context.Context, o compaction.Observation) {
	switch o.Outcome {
	case compaction.Stored:
		w.records++
	case compaction.Failed:
		w.t.Errorf("turn %d: compaction failed: %v", w.number, o.Err)
	}
}

func (w *watcher) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	w.look(req.Contents)
	answer := compactiontest.Say("It costs 12.50 EUR, and there are 40 of them in the main warehouse.")
	if last := req.Contents[len(req.Contents)-1].Parts[0]; w.number%3 == 0 && last.FunctionResponse == nil {
		answer = compactiontest.CallTool("price", map[string]any{"Name": "the item"})
	}
	return func(yield func(*model.LLMResponse, error) bool) { yield(answer, nil) }
}

// look checks that the prompt begins with the previous one, byte for byte, unless a record was
// stored in between.
func (w *watcher) look(contents []*genai.Content) {
	size := tokens.OfContents(contents)
	w.tokens = append(w.tokens, size)
	if len(w.byTurn) < w.number {
		w.byTurn = append(w.byTurn, size)
	}
	now, front := make([]string, len(contents)), 0
	for i, content := range contents {
		if strings.HasPrefix(content.Parts[0].Text, "[Summary of") {
			front += tokens.OfContents(contents[i : i+1])
		}
		data, err := json.Marshal(content)
		if err != nil {
			w.t.Fatal(err)
		}
		now[i] = string(data)
	}
	w.front = max(w.front, front)
	if w.at == w.records && w.before != nil {
		w.compared++
		if len(now) < len(w.before) {
			w.t.Fatalf("turn %d: the prompt became shorter without a record", w.number)
		}
		for i, content := range w.before {
			if now[i] != content {
				w.t.Fatalf("turn %d: content %d of the prompt changed from %q to %q", w.number, i, content, now[i])
			}
		}
	}
	w.before, w.at = now, w.records
	if !w.facts {
		return
	}
	all := strings.Join(now, "\n")
	for n := 1; n <= w.number; n++ {
		if !strings.Contains(all, compactiontest.Fact(n)) {
			w.t.Fatalf("turn %d: the fact of turn %d is not in the prompt", w.number, n)
		}
	}
}
