package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// TestThoughtsAreApartFromTheAnswer, under either of the names that servers have for them.
func TestThoughtsAreApartFromTheAnswer(t *testing.T) {
	t.Parallel()
	for name, delta := range map[string]string{
		"llama.cpp":  `{"role":"assistant","content":null,"reasoning_content":"Let me see. "}`,
		"Ollama":     `{"role":"assistant","content":"","reasoning":"Let me see. "}`,
		"both names": `{"content":"","reasoning":"Let me see. ","reasoning_content":"Let me see. "}`,
	} {
		cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"stream":true`) {
				stream(w, `{"choices":[{"delta":`+delta+`}]}`, `{"choices":[{"delta":{"content":"It is 7."}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
				return
			}
			_, _ = io.WriteString(w, `{"choices":[{"message":`+strings.Replace(strings.Replace(delta, "null", `"It is 7."`, 1), `"content":""`, `"content":"It is 7."`, 1)+`,"finish_reason":"stop"}]}`)
		})
		for _, streamed := range []bool{true, false} {
			parts, whole, err := ask(t, cfg, hello, streamed)
			if err != nil || streamed && strings.Join(parts, "|") != "Let me see. |It is 7." {
				t.Fatalf("%s, streamed %v: parts %q, error %v", name, streamed, parts, err)
			}
			got := whole.Content.Parts
			if len(got) != 2 || !got[0].Thought || got[0].Text != "Let me see. " || got[1].Thought || got[1].Text != "It is 7." {
				t.Errorf("%s, streamed %v: whole %+v %+v", name, streamed, got[0], got[len(got)-1])
			}
		}
	}
}

// TestReasoningThatIsNoTextIsIgnored: the field is nobody's standard.
func TestReasoningThatIsNoTextIsIgnored(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Yes.","reasoning":{"effort":"high"}},"finish_reason":"stop"}]}`)
	})
	_, whole, err := ask(t, cfg, hello, false)
	if err != nil || len(whole.Content.Parts) != 1 || whole.Content.Parts[0].Text != "Yes." {
		t.Errorf("whole %+v, %v", whole, err)
	}
}

// TestThoughtsWithoutAnAnswerAreNoAnswer: a model that thinks up to its limit says nothing.
func TestThoughtsWithoutAnAnswerAreNoAnswer(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"reasoning_content":"Hm"},"finish_reason":"length"}]}`, `[DONE]`)
	})
	_, whole, err := ask(t, cfg, hello, true)
	if err != nil || whole.Content != nil || whole.ErrorCode != "EMPTY" || !strings.Contains(whole.ErrorMessage, `thoughts only (finish reason "length")`) || whole.FinishReason != genai.FinishReasonMaxTokens {
		t.Errorf("%+v, %v", whole, err)
	}
}

// TestAServerThatStreamsUnasked gives one whole answer, as was asked for.
func TestAServerThatStreamsUnasked(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"choices":[{"delta":{"content":"Good "}}]}`, `{"choices":[{"delta":{"content":"day."},"finish_reason":"stop"}]}`, `[DONE]`)
	})
	parts, whole, err := ask(t, cfg, hello, false)
	if err != nil || len(parts) != 0 || whole == nil || whole.Content.Parts[0].Text != "Good day." {
		t.Errorf("parts %q, whole %+v, error %v", parts, whole, err)
	}
}

// TestNamesThatNoServerTakesAreReplaced: a model may call what does not exist by any name, and the call stays in the
// conversation.
func TestNamesThatNoServerTakesAreReplaced(t *testing.T) {
	t.Parallel()
	var got []string
	cfg := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct {
				ToolCalls []struct{ Function struct{ Name string } } `json:"tool_calls"`
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for _, m := range body.Messages {
			for _, c := range m.ToolCalls {
				got = append(got, c.Function.Name)
			}
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`)
	})
	req := &model.LLMRequest{Contents: hello.Contents, Config: &genai.GenerateContentConfig{
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "files.read"}}}},
	}}
	for _, name := range []string{"files.read", "functions.read", "read-1_a", "", "lire le fichier é", strings.Repeat("x", 70)} {
		req.Contents = append(req.Contents,
			genai.NewContentFromFunctionCall(name, nil, genai.RoleModel), genai.NewContentFromFunctionResponse(name, map[string]any{"error": "none"}, genai.RoleUser))
	}
	if _, _, err := ask(t, cfg, req, false); err != nil {
		t.Fatal(err)
	}
	want := []string{"files.read", "functions_read", "read-1_a", "_", "lire_le_fichier__", strings.Repeat("x", 64)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
