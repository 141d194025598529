package scripted_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/scripted"
)

func ask(t *testing.T, m *scripted.Model, text string, stream bool) (parts []string, whole *model.LLMResponse, failure error) {
	t.Helper()
	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}}
	for resp, err := range m.GenerateContent(context.Background(), req, stream) {
		switch {
		case err != nil:
			failure = err
		case resp.Partial:
			parts = append(parts, resp.Content.Parts[0].Text)
		default:
			whole = resp
		}
	}
	return parts, whole, failure
}

func TestResponsesComeInTheirOrder(t *testing.T) {
	t.Parallel()
	m, err := scripted.New("s", []byte("# a comment\n{\"text\": \"one\"}\n\n{\"when\": \"Order\", \"calls\": [{\"name\": \"lookup\", \"args\": {\"id\": 7}}]}\n{\"text\": \"two\"}\n{\"error\": \"busy\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"one", "", "two", "busy", "one"} {
		text := "hello"
		if want == "" {
			text = "my ORDER please"
		}
		_, got, err := ask(t, m, text, false)
		switch {
		case want == "busy":
			if err == nil || err.Error() != "busy" {
				t.Errorf("%d: error %v", i, err)
			}
		case err != nil:
			t.Errorf("%d: %v", i, err)
		case want == "":
			if call := got.Content.Parts[0].FunctionCall; call == nil || call.Name != "lookup" || call.Args["id"] != 7.0 {
				t.Errorf("%d: %+v", i, got.Content.Parts[0])
			}
		case got.Content.Parts[0].Text != want || got.UsageMetadata.PromptTokenCount == 0:
			t.Errorf("%d: %q with %+v, want %q", i, got.Content.Parts[0].Text, got.UsageMetadata, want)
		}
	}
}

func TestAStreamHasPartsAndTheWhole(t *testing.T) {
	t.Parallel()
	m, err := scripted.New("s", []byte(`{"text": "你好,世界 and more", "chunk": 3, "usage": {"prompt": 12, "output": 5, "cached": 2}}`))
	if err != nil {
		t.Fatal(err)
	}
	parts, whole, err := ask(t, m, "hello", true)
	if err != nil || len(parts) < 4 || strings.Join(parts, "") != "你好,世界 and more" || whole.Content.Parts[0].Text != "你好,世界 and more" {
		t.Errorf("parts %q, whole %+v, error %v", parts, whole, err)
	}
	if u := whole.UsageMetadata; u.PromptTokenCount != 12 || u.CandidatesTokenCount != 5 || u.CachedContentTokenCount != 2 || u.TotalTokenCount != 17 {
		t.Errorf("usage %+v", u)
	}
}

func TestABadScriptIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"":                               "without responses",
		"{}":                             "line 1: a response needs text",
		"\n{\"text\": 3}":                "line 2: ",
		`{"txt": "a"}`:                   "unknown field",
		`{"text": "a"} {"text": "b"}`:    "more than one",
		`{"text": "a", "delay": "soon"}`: "300ms",
		`{"text": "a", "chunk": -1}`:     "chunk is -1",
		`{"calls": [{"args": {}}]}`:      "needs a name",
		`{"text": "a", "error": "b"}`:    "without text",
	} {
		if _, err := scripted.New("s", []byte(script)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", script, err, want)
		}
	}
}

func TestTheDemoAnswersAnything(t *testing.T) {
	t.Parallel()
	m := scripted.Demo("demo")
	for range 10 {
		if _, whole, err := ask(t, m, "anything", true); err != nil || whole == nil {
			t.Fatalf("%+v, error %v", whole, err)
		}
	}
}
