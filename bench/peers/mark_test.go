package main

import (
	"maps"
	"testing"

	"google.golang.org/genai"
)

func TestEveryMessageAndResultIsMarkedAtThreePlaces(t *testing.T) {
	t.Parallel()
	before := invented()
	p := plant(before)
	if len(p.users) != 30 || len(p.results) != 24 || len(p.said) != 54 || len(p.answered) != 54 {
		t.Fatalf("%d messages, %d results, %d and %d calls", len(p.users), len(p.results), len(p.said), len(p.answered))
	}
	seen := map[int]bool{}
	result := 0
	is := func(what string, number int, found map[int]pieces) {
		t.Helper()
		if !maps.Equal(found, map[int]pieces{number: whole}) || seen[number] {
			t.Errorf("%s holds %v, want all of a number of its own, %d", what, found, number)
		}
		seen[number] = true
	}
	for i, turn := range p.conversation.Turns {
		is("message", p.users[i], marksOf([]*genai.Content{turn.User}))
		if len(marksOf([]*genai.Content{before.Turns[i].User})) > 0 {
			t.Errorf("message %d of the original conversation changed: the next way would find two numbers in it", i)
		}
		for _, step := range turn.Steps {
			for _, resp := range step.Responses {
				is("result", p.results[result], marks([]byte(resp.Response["log"].(string))))
				result++
			}
		}
	}
	if p.said[0] != 1 || p.answered[0] != 0 || p.said[1] != 1 || p.answered[1] != 1 || p.said[53] != 30 || p.answered[53] != 24 {
		t.Errorf("the messages and results before each call are miscounted: %v messages, %v results", p.said, p.answered)
	}
}

func TestAResultWithoutTextHasItsMarkBeside(t *testing.T) {
	t.Parallel()
	for _, response := range []map[string]any{nil, {"rows": 3}} {
		resp := &genai.FunctionResponse{Response: response}
		markResult(resp, 1)
		if resp.Response["mark"] != mark("", 1) {
			t.Errorf("%v has no mark", resp.Response)
		}
	}
}

// A cut at any place is detected, also next to multi-byte characters.
func TestWhatIsCutOffIsSeen(t *testing.T) {
	t.Parallel()
	text := mark("ein schöner Tag, и всё, 漢字", 7)
	third := len(text) / 3
	for name, tt := range map[string]struct {
		text string
		want pieces
	}{
		"nothing":    {text, whole},
		"the start":  {text[third:], middle | end},
		"the middle": {text[:third] + text[2*third:], start | end},
		"the end":    {text[:2*third], start | middle},
		"a fact":     {fact(7), whole},
	} {
		if found := marks([]byte(tt.text)); found[7] != tt.want || len(found) != 1 {
			t.Errorf("%s cut off of %q: found %v, want %03b", name, text, found, tt.want)
		}
	}
}
