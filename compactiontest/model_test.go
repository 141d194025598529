package compactiontest_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// A script can decide by the requests so far.
func TestAnAnswerMayLookAtTheRequestsSoFar(t *testing.T) {
	t.Parallel()
	var llm *ct.Model
	var seen []int
	llm = ct.NewModel("scripted", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if requests := llm.Requests(); len(requests) != n+1 || requests[n][0].Parts[0].Text != "hello" {
			t.Errorf("request %d: the model recorded %d requests", n, len(requests))
		}
		seen = append(seen, n)
		return ct.Say("done")
	})
	for range 3 {
		for _, err := range llm.GenerateContent(t.Context(), &model.LLMRequest{Contents: genai.Text("hello")}, false) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d answers, want 3", len(seen))
	}
}
