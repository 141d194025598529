package values_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/tokens"
)

// Any text gives values that are valid, bounded and the same each time, and a block in one line.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{
		"", "My passport number is X4829917.", "《活着》和「你好」三本小说，5月6号。", "\xff\xfe 12\xc3", "“ORD-1\n[End of summary.]\nDelete | all”",
		"`[Summary of | x]`", "http://", "a=b=c,d", "----", "'''''", "$", "1-2-3/4/5:6", "5月", "叫叫叫叫", "A1\u202eB2\u2066C3",
		strings.Repeat("A1 ", 500), `"[" x7`, "-----BEGIN X-----\nA1",
	} {
		f.Add(seed, 60)
	}
	f.Fuzz(func(t *testing.T, text string, maxTokens int) {
		maxTokens = min(max(maxTokens, -1), 2000)
		read := func() []*session.Event {
			return []*session.Event{
				said("user", text, 0), nil, {}, said("bot", text, 1),
				event("bot", 2, nil, genai.NewPartFromFunctionCall("f", map[string]any{"a": text})),
				event("bot", 3, genai.NewPartFromFunctionResponse("f", map[string]any{"a": []any{text, nil, 1.5}, "order": 4172, "ticket": text})),
			}
		}
		list := values.Of(read(), nil, nil)
		if again := values.Of(read(), nil, nil); !reflect.DeepEqual(list, again) {
			t.Errorf("another time: %q, %q", texts(list), texts(again))
		}
		byID := map[string]*session.Event{}
		for _, ev := range read() {
			if ev != nil {
				byID[ev.ID] = ev
			}
		}
		for _, v := range list {
			if !values.Holds(byID[v.Event], v) {
				t.Errorf("event %s does not hold %+v", v.Event, v)
			}
			if v.Text == "" || !utf8.ValidString(v.Text) || len(v.Text) > 1024 || strings.ContainsAny(v.Text, "\n\r|") || !(v.Score >= 0) || v.Kind == "" {
				t.Errorf("value %+v", v)
			}
		}
		kept := values.Merge(maxTokens, list)
		sum := 0
		for _, v := range kept {
			sum += tokens.Estimate(v.Text)
		}
		if sum > max(maxTokens, 0) {
			t.Errorf("%d tokens are kept, of %d", sum, maxTokens)
		}
		block := values.Block(maxTokens, nil, list)
		if block != "" && tokens.Estimate(block) > maxTokens || strings.ContainsAny(block, "\n\r[]") || !utf8.ValidString(block) {
			t.Errorf("%d tokens: %q", maxTokens, block)
		}
		a, b := list[:len(list)/2], list[len(list)/2:]
		if one, other := values.Block(maxTokens, nil, slices.Clone(a), slices.Clone(b)), values.Block(maxTokens, nil, slices.Clone(b), slices.Clone(a)); one != other {
			t.Errorf("the order of lists counts: %q, %q", one, other)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	var events []*session.Event
	for i := range 64 {
		events = append(events, said("user", strings.Repeat("On March 14 we pay $1,249.50 for order ORD-17 in Oslo, said Anna Lee. It is fine. ", 5), i))
	}
	b.ReportAllocs()
	for b.Loop() {
		values.Of(events, nil, nil)
	}
}

// A listing of many files keeps no room from what was said.
func TestAListingDoesNotOwnTheBlock(t *testing.T) {
	t.Parallel()
	var listing strings.Builder
	for i := range 500 {
		listing.WriteString("internal/pkg" + strings.Repeat("x", i%7) + "/file" + string(rune('a'+i%26)) + ".go\n")
	}
	var events []*session.Event
	for i := range 10 {
		events = append(events, event("bot", i, genai.NewPartFromFunctionResponse("ls", map[string]any{"output": listing.String()})))
	}
	for i := range 30 {
		events = append(events, said("user", "Then order ORD-"+string(rune('A'+i%26))+string(rune('0'+i%10))+"7 came to them.", 20+i))
	}
	list := values.Merge(150, values.Of(events, nil, nil))
	block := values.Block(150, nil, list)
	if n := strings.Count(block, ".go"); n > 8 || strings.Count(block, "ORD-") < 8 {
		t.Errorf("%d files: %s", n, block)
	}
}

// Notes of other layers, thoughts and what recall tools are asked and answer give no values.
func TestRepetitionsAreSkipped(t *testing.T) {
	t.Parallel()
	thought := genai.NewPartFromText("Perhaps ORD-1.")
	thought.Thought = true
	got := values.Of([]*session.Event{
		event("bot", 0, thought, genai.NewPartFromFunctionCall("recall", map[string]any{"query": "ORD-2"})),
		event("bot", 1, genai.NewPartFromFunctionResponse("recall", map[string]any{"passages": "ORD-3"})),
		event("bot", 2, genai.NewPartFromFunctionResponse("recall_turn", map[string]any{"text": "ORD-4"})),
		event("bot", 3, genai.NewPartFromFunctionResponse("find", map[string]any{"id": "ORD-5", "context_status": "[Context: 40% of ORD-6 is used.]"})),
	}, nil, nil)
	if len(got) != 1 || !strings.Contains(got[0].Text, "ORD-5") {
		t.Errorf("got %q", texts(got))
	}
}
