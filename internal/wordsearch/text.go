package wordsearch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/recalled"
	"github.com/adk-go-ext/longsession/record"
)

// maxText is how many bytes of an event's text are indexed. A tool result of a megabyte has the words of everything,
// and would be found by every question.
const maxText = 32 << 10

// Text returns what can be found of an event: what was said, the names and arguments of calls, the responses, and
// code that was executed with its output, one part per line. It is "" for an event that says nothing, for a compaction
// record, and for what the recall tools were asked and have answered. Thoughts are left out. The text of an event that
// holds more than 32 KiB ends there.
func Text(ev *session.Event) string { return textOf(ev, maxText) }

// textOf returns at most so many bytes of an event's text.
func textOf(ev *session.Event, most int) string {
	if ev == nil || record.Is(ev) {
		return ""
	}
	b := builder{most: most}
	for _, p := range recalled.Without(ev) {
		switch {
		case p == nil:
		case p.Text != "" && !p.Thought:
			b.line(p.Text)
		case p.ExecutableCode != nil:
			b.line(p.ExecutableCode.Code)
		case p.CodeExecutionResult != nil:
			b.line(p.CodeExecutionResult.Output)
		case p.FunctionCall != nil && adk.Prompted(p.FunctionCall.Name):
			b.line(p.FunctionCall.Name)
			b.value(p.FunctionCall.Args, 0)
		case p.FunctionResponse != nil && adk.Prompted(p.FunctionResponse.Name):
			b.line(p.FunctionResponse.Name)
			b.value(p.FunctionResponse.Response, 0)
		}
	}
	if t := ev.InputTranscription; t != nil {
		b.line(t.Text)
	}
	if t := ev.OutputTranscription; t != nil {
		b.line(t.Text)
	}
	return b.String()
}

// builder collects text up to a number of bytes.
type builder struct {
	strings.Builder
	most int
}

func (b *builder) full() bool { return b.Len() >= b.most }

func (b *builder) line(text string) {
	b.text(text, "\n")
}

func (b *builder) text(text, separator string) {
	if text == "" || b.full() {
		return
	}
	if b.Len() > 0 {
		b.WriteString(separator)
	}
	b.WriteString(strings.ToValidUTF8(cutText(text, b.most-b.Len()), " "))
}

// cutText returns the beginning of a text, in whole characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	most = max(0, most)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// maxDepth is how deep values may be nested. JSON of a real tool is far below.
const maxDepth = 32

// value adds the keys and values of a decoded JSON value, in an order that is always the same.
func (b *builder) value(v any, depth int) {
	if b.full() || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case nil, bool:
	case string:
		b.text(v, " ")
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.text(key, " ")
			b.value(v[key], depth+1)
		}
	case []any:
		for _, item := range v {
			b.value(item, depth+1)
		}
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32:
		b.text(fmt.Sprint(v), " ")
	case float64:
		b.text(number(v), " ")
	default:
		b.text(fmt.Sprint(v), " ")
	}
}
