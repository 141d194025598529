package values

import (
	"slices"
	"strings"
	"unicode"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Of returns the values of events.
func Of(events []*session.Event, redact func(string) string) []record.Value {
	var out []record.Value
	for _, ev := range events {
		if ev == nil || ev.Content == nil {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p == nil {
				continue
			}
			text := p.Text
			if redact != nil {
				text = redact(text)
			}
			for _, word := range strings.Fields(text) {
				word = strings.Trim(word, ".,;:!?")
				if strings.ContainsFunc(word, unicode.IsDigit) && strings.ContainsFunc(word, unicode.IsUpper) {
					out = append(out, record.Value{Text: word, Kind: "identifier", Author: ev.Author, Event: ev.ID, At: ev.Timestamp, Score: 1})
				}
			}
		}
	}
	return out
}

// Merge unites lists.
func Merge(maxTokens int, lists ...[]record.Value) []record.Value {
	var out []record.Value
	used := 0
	for _, v := range slices.Concat(lists...) {
		if slices.ContainsFunc(out, func(o record.Value) bool { return o.Text == v.Text }) {
			continue
		}
		if used += tokens.Estimate(v.Text) + 2; used > maxTokens {
			break
		}
		out = append(out, v)
	}
	return out
}

// Block renders the best values.
func Block(maxTokens int, said []string, lists ...[]record.Value) string {
	const opening = "Exact values from these messages: "
	text := ""
	for _, v := range Merge(1<<30, lists...) {
		if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, v.Text) }) {
			continue
		}
		shown := strings.NewReplacer("\n", " ", "\r", " ", "|", "/").Replace(v.Text)
		longer := text + " | " + shown
		if text == "" {
			longer = opening + shown
		}
		if tokens.Estimate(longer) > maxTokens {
			continue
		}
		text = longer
	}
	return text
}
