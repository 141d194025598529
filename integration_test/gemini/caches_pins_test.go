package gemini_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// The fields that a cache replaces must be taken out by the wrapper: nobody else does it.
func TestPinADKSendsTheConfigAsItIs(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		v := &vertex{t: t} // accepts what Gemini refuses
		req := &model.LLMRequest{
			Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)},
			Config: &genai.GenerateContentConfig{
				CachedContent: "cachedContents/1", SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
				Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup"}}}}, ToolConfig: &genai.ToolConfig{},
			},
		}
		for range v.client().GenerateContent(t.Context(), req, stream) {
		}
		if len(v.bodies) != 1 {
			t.Fatalf("%d requests", len(v.bodies))
		}
		for _, field := range []string{`"cachedContent":`, `"systemInstruction":`, `"tools":`, `"toolConfig":`} {
			if !strings.Contains(v.bodies[0], field) {
				t.Errorf("stream %v: %s is not sent:\n%s", stream, field, v.bodies[0])
			}
		}
	}
}

// No list of contents is sent, which the API would refuse if it was empty, and the life is in seconds.
func TestPinTheClientOfAModelCreatesCachesWithoutContents(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.caches.tokens = cachedSize
	client := s.client(assistant).(interface{ Client() *genai.Client }).Client()
	made, err := client.Caches.Create(t.Context(), assistant, &genai.CreateCachedContentConfig{
		TTL: 10 * time.Minute, SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if wire := s.caches.made[0]; wire.Contents != nil || wire.TTL != "600s" || wire.Tools == nil || wire.SystemInstruction == nil {
		t.Errorf("%+v", wire)
	}
	if made.Name != "cachedContents/1" || made.UsageMetadata.TotalTokenCount != cachedSize || made.ExpireTime.Sub(made.CreateTime) < 9*time.Minute {
		t.Errorf("%+v", made)
	}
	updated, err := client.Caches.Update(t.Context(), made.Name, &genai.UpdateCachedContentConfig{TTL: time.Hour})
	if err != nil || updated.ExpireTime.Sub(updated.UpdateTime) < 59*time.Minute {
		t.Errorf("%+v, %v", updated, err)
	}
	page, err := client.Caches.List(t.Context(), nil)
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := client.Caches.Get(t.Context(), made.Name, nil); err != nil {
		t.Error(err)
	}
	if _, err := client.Caches.Delete(t.Context(), made.Name, nil); err != nil || len(s.caches.left()) != 0 {
		t.Errorf("%q, %v", s.caches.left(), err)
	}
}

// The wrapper recognizes the refusal of a cache by code and message, before anything was yielded.
func TestPinTheRefusalOfACacheIsAnAPIError(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := newServer(t)
		s.will(assistant, answer())
		n := 0
		for resp, err := range s.client(assistant).GenerateContent(t.Context(), &model.LLMRequest{
			Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)}, Config: &genai.GenerateContentConfig{CachedContent: "cachedContents/7"},
		}, stream) {
			n++
			var value genai.APIError
			if resp != nil || !errors.As(err, &value) || value.Code != http.StatusForbidden || !strings.Contains(value.Message, "CachedContent not found") {
				t.Errorf("stream %v: %v, %v", stream, resp, err)
			}
		}
		if n != 1 {
			t.Errorf("stream %v: %d yields", stream, n)
		}
		_, err := s.client(assistant).(interface{ Client() *genai.Client }).Client().Caches.Update(t.Context(), "cachedContents/7", &genai.UpdateCachedContentConfig{TTL: time.Hour})
		var value genai.APIError
		if !errors.As(err, &value) || value.Code != http.StatusForbidden {
			t.Errorf("%v", err)
		}
	}
}
