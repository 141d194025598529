package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"
)

// vertex imitates as much of Vertex AI as a cache needs.
type vertex struct {
	t      *testing.T
	mu     sync.Mutex
	calls  []string // method, path, and the cache or the model that the body names
	bodies []string
}

func (v *vertex) client() model.LLM {
	v.t.Helper()
	llm, err := gemini.NewModel(v.t.Context(), assistant, &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: "p", Location: "europe-west1",
		HTTPClient: &http.Client{Transport: inProcess{v}}, HTTPOptions: genai.HTTPOptions{BaseURL: "http://vertex.test"},
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return llm
}

func (v *vertex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ CachedContent, Model string }
	data, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Error(err)
	}
	_ = json.Unmarshal(data, &body)
	v.mu.Lock()
	v.calls = append(v.calls, r.Method+" "+r.URL.Path+" "+body.CachedContent+body.Model)
	v.bodies = append(v.bodies, string(data))
	v.mu.Unlock()
	answer := object{}
	switch {
	case strings.HasSuffix(r.URL.Path, "/cachedContents"):
		answer = object{"name": "projects/123/locations/europe-west1/cachedContents/9", "usageMetadata": object{"totalTokenCount": cachedSize}}
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		answer = object{"candidates": []object{{"content": object{"role": "model", "parts": []object{{"text": "Hi."}}}, "finishReason": "STOP"}}}
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(answer)
}
