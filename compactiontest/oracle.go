package compactiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

var factPattern = regexp.MustCompile(`FACT-\d{5}`)

// Fact returns the n-th fact token, a short string that does not occur by chance, so that a test
// can look for it in a prompt.
func Fact(n int) string { return fmt.Sprintf("FACT-%05d", n) }

// Facts returns the distinct fact tokens of a text, in order.
func Facts(text string) []string {
	var out []string
	for _, fact := range factPattern.FindAllString(text, -1) {
		if !slices.Contains(out, fact) {
			out = append(out, fact)
		}
	}
	return out
}

// FactsIn returns the fact tokens in an event's content.
func FactsIn(ev *session.Event) []string {
	if ev == nil || ev.Content == nil {
		return nil
	}
	return FactsInContents([]*genai.Content{ev.Content})
}

// FactsInContents returns the fact tokens of contents, such as those of a model request.
func FactsInContents(contents []*genai.Content) []string {
	data, err := json.Marshal(contents)
	if err != nil {
		return nil
	}
	return Facts(string(data))
}

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
		add(FactsIn(ev))
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
