// Package histories makes events and records for the tests of this module, which know more of them than the tests of
// an app.
package histories

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Epoch is when a history begins. The first event is one second later.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var factPattern = regexp.MustCompile(`FACT-\d{5}`)

// Fact returns the n-th fact token, a short string that does not occur by chance.
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
