package integration_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// liveModel is an actor that also supports live connections: ADK asks the model for its client and
// connects it to the Live API, which a local server imitates.
type liveModel struct {
	model.LLM
	client *genai.Client
}

func (m liveModel) Client() *genai.Client { return m.client }

// liveAPI imitates the Live API.
type liveAPI struct {
	a *app
	x *actor
	// spoken is true if both sides speak, so that ADK gets transcriptions. Otherwise they write.
	spoken bool
	// history is true if the next connection begins with the history, and first if the model speaks
	// first.
	history, first bool
	// ready receives a value when a connection is open and its history has been read.
	ready chan struct{}
	// histories counts the histories that were checked.
	histories int
	calls     int
}

// newLiveAPI starts the server, and returns it with a model that connects to it.
func newLiveAPI(a *app, x *actor, spoken bool) (*liveAPI, liveModel) {
	a.t.Helper()
	api := &liveAPI{a: a, x: x, spoken: spoken, ready: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := upgrade(w, req)
		if err != nil {
			a.t.Errorf("live: %v", err)
			return
		}
		defer func() { _ = conn.conn.Close() }()
		if err := api.talk(conn); err != nil && !strings.Contains(err.Error(), io.EOF.Error()) && !strings.Contains(err.Error(), "reset") {
			a.t.Errorf("live: %v", err)
		}
	}))
	a.t.Cleanup(server.Close)
	client, err := genai.NewClient(a.t.Context(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: "none", HTTPOptions: genai.HTTPOptions{BaseURL: strings.Replace(server.URL, "http:", "ws:", 1)},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return api, liveModel{x.model, client}
}

// talk serves one connection.
func (api *liveAPI) talk(w *wire) error {
	if _, err := w.next(func(msg liveMessage) bool { return msg.Setup != nil }); err != nil {
		return err
	}
	if err := w.write(map[string]any{"setupComplete": map[string]any{}}); err != nil {
		return err
	}
	if api.history {
		msg, err := w.next(func(msg liveMessage) bool { return msg.ClientContent != nil })
		if err != nil {
			return err
		}
		api.histories++
		api.x.check(&model.LLMRequest{Contents: msg.ClientContent.Turns})
	}
	if api.first {
		if err := api.callTool(w); err != nil {
			return err
		}
	}
	api.ready <- struct{}{}
	for {
		if _, err := w.next(func(msg liveMessage) bool { return msg.ClientContent != nil || msg.RealtimeInput != nil }); err != nil {
			return err
		}
		if err := api.respond(w); err != nil {
			return err
		}
	}
}

// callTool makes the model begin the connection with a tool call. Later in a connection it may not
// call tools: ADK would send the tool's response from another goroutine than the user's messages,
// without a lock, and its websocket library would panic.
func (api *liveAPI) callTool(w *wire) error {
	api.calls++
	call := map[string]any{"id": fmt.Sprint("live-", api.calls), "name": "lookup", "args": map[string]any{"n": api.a.ledger.number()}}
	if err := w.write(map[string]any{"toolCall": map[string]any{"functionCalls": []any{call}}}); err != nil {
		return err
	}
	if _, err := w.next(func(msg liveMessage) bool { return msg.ToolResponse != nil }); err != nil {
		return err
	}
	return api.respond(w)
}

// respond answers in text or in speech.
func (api *liveAPI) respond(w *wire) error {
	saying := "It was, as far as I could hear, about " + api.a.tell(api.x.name) + ", and I have made a note of that."
	contents := []map[string]any{{"modelTurn": genai.NewContentFromText(saying, genai.RoleModel)}}
	if api.spoken {
		contents = []map[string]any{
			{"inputTranscription": map[string]any{"text": "Please note " + api.a.tell("user") + ", "}},
			{"inputTranscription": map[string]any{"text": "and also what I say next."}},
			{"modelTurn": map[string]any{"role": "model", "parts": []any{map[string]any{"inlineData": genai.Blob{MIMEType: "audio/pcm", Data: []byte("sound")}}}}},
			{"outputTranscription": map[string]any{"text": saying}},
		}
	}
	for _, content := range append(contents, map[string]any{"turnComplete": true}) {
		if err := w.write(map[string]any{"serverContent": content}); err != nil {
			return err
		}
	}
	return nil
}
