package integration_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// The plugin that puts the status behind the user's message therefore comes last.
func TestPinTheFirstAnswerToAUserMessageHidesItFromOtherPlugins(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var order []string
	var invocations []string
	made := func(name string, answer *genai.Content) *plugin.Plugin {
		p, err := plugin.New(plugin.Config{
			Name: name,
			OnUserMessageCallback: func(ctx agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
				order = append(order, name+" message "+msg.Parts[0].Text)
				invocations = append(invocations, ctx.InvocationID())
				return answer, nil
			},
			BeforeRunCallback: func(ctx agent.InvocationContext) (*genai.Content, error) {
				order = append(order, name+" run "+ctx.UserContent().Parts[0].Text)
				invocations = append(invocations, ctx.InvocationID())
				return nil, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	llm := &pinned{name: "m", answer: func(ctx context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
		order = append(order, "model "+req.Contents[0].Parts[0].Text)
		invocations = append(invocations, ctx.(agent.InvocationContext).InvocationID())
		return compactiontest.Say("Done.")
	}}
	answer := genai.NewContentFromText("Changed.", genai.RoleUser)
	if err := pinTurn(t, service, pinAgent(t, llm, nil), made("first", nil), made("second", answer), made("third", nil)); err != nil {
		t.Fatal(err)
	}
	want := []string{"first message Go on.", "second message Go on.", "first run Changed.", "second run Changed.", "third run Changed.", "model Changed."}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
	if len(slices.Compact(invocations)) != 1 || invocations[0] == "" {
		t.Errorf("one run has the invocations %q", invocations)
	}
	if stored := getBare(t, service).Events().At(0).Content; stored.Parts[0].Text != "Changed." {
		t.Errorf("stored is %q", stored.Parts[0].Text)
	}
}

// A message in the app's hands must not be changed in place.
func TestPinAUserMessageIsStoredAsThePointerOfTheApp(t *testing.T) {
	t.Parallel()
	service := session.InMemoryService()
	createBare(t, service)
	var given *genai.Content
	p, err := plugin.New(plugin.Config{Name: "p", OnUserMessageCallback: func(_ agent.InvocationContext, msg *genai.Content) (*genai.Content, error) {
		given = msg
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	llm := &pinned{name: "m", answer: func(context.Context, int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Done.") }}
	if err := pinTurn(t, service, pinAgent(t, llm, nil), p); err != nil {
		t.Fatal(err)
	}
	if given == nil || getBare(t, service).Events().At(0).Content != given {
		t.Error("the session holds another message than the plugin was given")
	}
}

// One part for each section therefore reaches the provider as it is, and a section never mixes with ADK's own
// text.
func TestPinThePartsOfTheInstructionAreSentOneByOne(t *testing.T) {
	t.Parallel()
	var body struct {
		SystemInstruction struct {
			Role  string
			Parts []struct{ Text string }
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		if err := json.Unmarshal(data, &body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}]}`)
	}))
	defer server.Close()
	llm, err := gemini.NewModel(t.Context(), "gemini-2.5-flash", &genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	service := session.InMemoryService()
	createBare(t, service)
	root := pinAgent(t, llm, func(cfg *llmagent.Config) {
		cfg.Instruction = "Base."
		cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
			c := req.Config.SystemInstruction
			c.Parts = append(c.Parts, genai.NewPartFromText("{second}"), genai.NewPartFromText("third"))
			return nil, nil
		}}
	})
	if err := pinTurn(t, service, root); err != nil {
		t.Fatal(err)
	}
	got := body.SystemInstruction
	if len(got.Parts) != 3 || !strings.HasPrefix(got.Parts[0].Text, "Base.") || got.Parts[1].Text != "{second}" || got.Parts[2].Text != "third" || got.Role != "user" {
		t.Errorf("the provider received %+v", got)
	}
}
