package summarizer_test

import (
	"strings"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/summarizer"
)

// recallRound is a question, the call of recall that it led to, what that found, and the answer.
func recallRound(found map[string]any) []*session.Event {
	return []*session.Event{
		event("user", "user", genai.NewPartFromText("When does my visa expire?")),
		event("agent", "model", &genai.Part{FunctionCall: &genai.FunctionCall{ID: "c", Name: "recall", Args: map[string]any{"query": "visa expiry"}}}),
		event("agent", "user", &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "c", Name: "recall", Response: found}}),
		event("agent", "model", genai.NewPartFromText("It expires in May.")),
	}
}

// The answer of recall repeats messages that are summarized elsewhere: a second copy would count them twice.
func TestTheAnswerOfRecallIsOneLine(t *testing.T) {
	t.Parallel()
	found := map[string]any{"passages": "[turn 41, 2026-03-02 14:05, user] My visa number is V-88410, and the consulate is in Lisbon.", "turns": []any{41.0, 77.0}}
	events := recallRound(found)
	text, err := summarizer.Transcript(events, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "agent [user] gets the result of recall: recalled: turns 41, 77") || strings.Contains(text, "V-88410") {
		t.Errorf("the transcript is\n%s", text)
	}
	digest := extract(t, summarizer.Request{Events: events})
	if strings.Contains(digest, "V-88410") || !strings.Contains(digest, "recalled: turns 41, 77") {
		t.Errorf("the digest is\n%s", digest)
	}
}

// What an app's own tool of that name has answered is in no other event.
func TestAnAppsOwnToolNamedRecallIsSummarizedLikeAnyOther(t *testing.T) {
	t.Parallel()
	events := recallRound(map[string]any{"result": "Recall notice: model V-88410 overheats."})
	text, err := summarizer.Transcript(events, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "V-88410") {
		t.Errorf("the answer is lost:\n%s", text)
	}
}
