package compactiontest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Fact returns the n-th fact token, a short string that does not occur by chance, so that a test
// can look for it in a prompt.
func Fact(n int) string { return histories.Fact(n) }

// Facts returns the distinct fact tokens of a text, in order.
func Facts(text string) []string { return histories.Facts(text) }

// Oracle is a summarizer that loses nothing: its summary is exactly the fact tokens of its input.
// It records its requests. The zero value is ready to use. Oracle is safe for concurrent use.
type Oracle struct {
	mu       sync.Mutex
	requests []summarizer.Request
}

// Summarize returns the facts of the request's events and earlier summaries.
func (o *Oracle) Summarize(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
	o.mu.Lock()
	o.requests = append(o.requests, req)
	o.mu.Unlock()
	var facts []string
	add := func(found []string) {
		for _, fact := range found {
			if !slices.Contains(facts, fact) {
				facts = append(facts, fact)
			}
		}
	}
	for _, text := range req.Summaries {
		add(Facts(text))
	}
	for _, ev := range req.Events {
		add(histories.FactsIn(ev))
	}
	text := strings.Join(facts, " ")
	if text == "" {
		text = "No facts were mentioned in this part of the conversation."
	}
	return summarizer.Result{
		Content: genai.NewContentFromText(text, genai.RoleModel),
		Usage:   tokens.Usage{OutputTokens: tokens.Estimate(text)},
		Model:   "oracle",
	}, nil
}

// Requests returns the requests so far.
func (o *Oracle) Requests() []summarizer.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.requests)
}
