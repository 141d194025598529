package wordsearch_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/record"
)

func eventOf(author string, parts ...*genai.Part) *session.Event {
	return &session.Event{ID: "e", Author: author, Timestamp: time.Date(2026, 5, 6, 23, 0, 0, 0, time.UTC),
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel)}}
}

func TestTextIsWhatCanBeFound(t *testing.T) {
	t.Parallel()
	thought := genai.NewPartFromText("I wonder.")
	thought.Thought = true
	spoken := &session.Event{Author: "user"}
	spoken.InputTranscription = &genai.Transcription{Text: "Hello there."}
	rec := &session.Event{Author: "user"}
	rec.CustomMetadata = map[string]any{record.Key: map[string]any{"version": 1.0}}
	for _, tt := range []struct {
		name string
		ev   *session.Event
		want string
	}{
		{"nil", nil, ""},
		{"a change of state", &session.Event{Author: "user"}, ""},
		{"a record", rec, ""},
		{"words", eventOf("user", genai.NewPartFromText("Hello."), nil, genai.NewPartFromText("You?")), "Hello.\nYou?"},
		{"a thought", eventOf("bot", thought), ""},
		{"speech", spoken, "Hello there."},
		{"a call", eventOf("bot", genai.NewPartFromFunctionCall("lookup", map[string]any{"id": "A-1", "deep": []any{1.5, map[string]any{"k": true, "z": nil}}, "n": 7})), "lookup deep 1.5 k z id A-1 n 7"},
		{"a response", eventOf("bot", genai.NewPartFromFunctionResponse("lookup", map[string]any{"result": "in transit"})), "lookup result in transit"},
		{"what was recalled", eventOf("bot", genai.NewPartFromFunctionCall("recall", map[string]any{"query": "visa"}), genai.NewPartFromFunctionResponse("recall_turn", map[string]any{"text": "visa"})), ""},
		{"a request for a confirmation", eventOf("bot", genai.NewPartFromFunctionCall("adk_request_confirmation", map[string]any{"hint": "really?"})), ""},
		{"broken UTF-8", eventOf("bot", genai.NewPartFromText("a\xffb")), "a b"},
	} {
		if got := wordsearch.Text(tt.ev); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	long := wordsearch.Text(eventOf("bot", genai.NewPartFromText("x"+strings.Repeat("字", 200_000)), genai.NewPartFromText("end")))
	if len(long) > 32<<10 || len(long) < 32<<10-4 || !utf8.ValidString(long) {
		t.Errorf("a text of 600 KB became %d bytes", len(long))
	}
	var nested any = "deep"
	for range 100_000 {
		nested = map[string]any{"k": nested}
	}
	if got := wordsearch.Text(eventOf("bot", genai.NewPartFromFunctionResponse("f", map[string]any{"v": nested}))); strings.Contains(got, "deep") {
		t.Error("nested without end")
	}
}

func TestTermsNameTheAuthorAndTheDay(t *testing.T) {
	t.Parallel()
	got := wordsearch.Terms(eventOf("travel_desk", genai.NewPartFromText("Searching flights")), nil)
	want := []string{"search", "flight", "travel", "desk", "d:y2026", "d:m5", "d:d6", "d:w3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := wordsearch.Terms(&session.Event{Author: "bot"}, nil); got != nil {
		t.Errorf("an event without text has %q", got)
	}
}

// Whatever a text holds, its terms have letters, digits and marks only, and no term can be taken for a date.
func FuzzTerms(f *testing.F) {
	for _, seed := range []string{"", "Hello: d:m5 12:34", "字:字", "ｄ：ｍ５", "a\u0301\u0327", "\u202eabc", "🙂 x", "\xff", strings.Repeat("ab:", 99)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ev := eventOf(text, genai.NewPartFromText(text))
		terms := wordsearch.Terms(ev, nil)
		for i, term := range terms {
			if i < len(terms)-4 && strings.ContainsAny(term, ": \"*^()") || term == "" || len(term) > 64 || !utf8.ValidString(term) {
				t.Fatalf("%q has the term %q", text, term)
			}
		}
		hits := search(wordsearch.NewMemory(0), adk.SessionRef{}, []*session.Event{ev}, index.Query{Text: text, Around: 1})
		if q := wordsearch.Ask(text); !q.Empty() && len(q.Terms) > 0 && slices.Contains(terms, q.Terms[0]) && len(hits) != 1 {
			t.Fatalf("%q does not find itself", text)
		}
	})
}
