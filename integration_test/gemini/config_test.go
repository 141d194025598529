package gemini_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
)

// The client writes headers into the config of a request. Eight sessions are summarized
// concurrently with one config, which must not change. With -race, the test shows that no two calls
// share it. Only config fields that cannot distort a summary reach the server.
func TestTheConfigOfTheSummarizerIsNeitherSharedNorChanged(t *testing.T) {
	t.Parallel()
	config := func() *genai.GenerateContentConfig {
		return &genai.GenerateContentConfig{
			Temperature:       genai.Ptr[float32](0.25),
			SafetySettings:    []*genai.SafetySetting{{Category: genai.HarmCategoryHarassment, Threshold: genai.HarmBlockThresholdBlockNone}},
			HTTPOptions:       &genai.HTTPOptions{Headers: http.Header{"X-Team": {"support"}}, ExtraBody: map[string]any{}},
			MaxOutputTokens:   7,
			StopSequences:     []string{"."},
			ResponseMIMEType:  "application/json",
			SystemInstruction: genai.NewContentFromText("You are a pirate.", genai.RoleUser),
			Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup"}}}},
		}
	}
	given := config()
	a := simple(t, func(cfg *compaction.Config) {
		llm, err := summarizer.NewLLM(summarizer.LLMConfig{Model: cfg.Model, GenerateConfig: given})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Model, cfg.Summarizer = nil, llm
	})
	a.inspect = nil // it knows the facts of one session only
	a.always = new(reply)
	*a.always = answer()
	a.runSessions(8, 12)

	if diff := cmp.Diff(config(), given); diff != "" {
		t.Errorf("the config changed (-was +is):\n%s", diff)
	}
	summaries := a.received(true)
	if len(summaries) < 16 {
		t.Fatalf("%d summaries, want two for each session", len(summaries))
	}
	for _, r := range summaries {
		if len(r.GenerationConfig) != 1 || r.GenerationConfig["temperature"] != 0.25 || len(r.SafetySettings) != 1 {
			t.Errorf("generation config %v, safety settings %v", r.GenerationConfig, r.SafetySettings)
		}
		for _, key := range []string{"X-Team", "X-Goog-Api-Client", "User-Agent"} {
			if got := r.header.Values(key); len(got) != 1 || !cmp.Equal(got, summaries[0].header.Values(key)) {
				t.Errorf("header %s is %q: calls leave traces in each other", key, got)
			}
		}
	}
}

// runSessions runs the given number of sessions concurrently.
func (a *app) runSessions(sessions, turns int) {
	var running sync.WaitGroup
	for i := range sessions {
		running.Go(func() {
			for n := range turns {
				msg := genai.NewContentFromText(fmt.Sprintf("This is message %d of the many that I send you; please be so kind as to remember it well.", n), genai.RoleUser)
				for _, err := range a.runner.Run(a.t.Context(), ref.UserID, fmt.Sprintf("session-%d", i), msg, agent.RunConfig{}) {
					if err != nil {
						a.t.Errorf("session %d: %v", i, err)
						return
					}
				}
			}
		})
	}
	running.Wait()
}
