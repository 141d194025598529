package values

import (
	"encoding/json"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Holds reports whether an event has a value: its words with digits, or all of its words if none has a digit, as
// whole words. An app's function may have taken out others, and the name of a field may be one of them.
func Holds(ev *session.Event, v record.Value) bool {
	var words, all []string
	for word := range strings.FieldsSeq(fold(clean(v.Text))) {
		all = append(all, word)
		if strings.ContainsAny(word, "0123456789") {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		words = all
	}
	var b strings.Builder
	if ev != nil && ev.Content != nil {
		for _, p := range ev.Content.Parts {
			switch {
			case p == nil:
			case p.FunctionCall != nil:
				saidIn(&b, p.FunctionCall.Args, 0)
			case p.FunctionResponse != nil:
				saidIn(&b, p.FunctionResponse.Response, 0)
			default:
				saidIn(&b, p.Text, maxDepth)
			}
		}
	}
	spoken, _ := adk.Transcribed(ev)
	saidIn(&b, spoken, maxDepth)
	said := b.String()
	for i, word := range words {
		if hasWords(said, word) {
			continue
		}
		// An error is cut, also in the middle of its last word.
		if plain(v.Kind) != kindFailure || i < len(words)-1 || !strings.Contains(said, word) {
			return false
		}
	}
	return len(words) > 0
}

// saidIn writes the texts of a value, each in a line, as they are compared.
func saidIn(b *strings.Builder, value any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case string:
		if inner, ok := inText(v); ok && depth < maxDepth {
			saidIn(b, inner, depth+1)
			return
		}
		text := strings.ToValidUTF8(v, " ")
		b.WriteString(fold(clean(text)) + "\n")
		if plain := withoutEscapes(text); plain != text {
			b.WriteString(fold(clean(plain)) + "\n")
		}
		if strings.ContainsFunc(text, hidden) { // it ends a word, and a value does not have it
			b.WriteString(fold(clean(strings.Map(func(r rune) rune {
				if hidden(r) {
					return ' '
				}
				return r
			}, text))) + "\n")
		}
	case map[string]any:
		for k, one := range v {
			saidIn(b, k, maxDepth)
			saidIn(b, one, depth+1)
		}
	case []any:
		for _, one := range v {
			saidIn(b, one, depth+1)
		}
	default:
		if text, ok := numberText(v); ok {
			b.WriteString(text + "\n")
		}
	}
}

// inText returns the object or the list that a text is, as many tools answer.
func inText(text string) (inner any, ok bool) {
	t := strings.TrimSpace(text)
	if len(t) >= maxResponse || !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") {
		return nil, false
	}
	return inner, json.Unmarshal([]byte(t), &inner) == nil
}
