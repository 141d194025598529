package gemini_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// pieces is a server that answers every request with a stream of three pieces, whose counts are cumulative.
type pieces struct{}

func (m *pieces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := 1; i <= 3; i++ {
		finish := ""
		if i == 3 {
			finish = `,"finishReason":"STOP"`
		}
		_, _ = fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"piece %d \"}]}%s}],\"modelVersion\":\"fake-001\",\"usageMetadata\":{\"promptTokenCount\":100,\"candidatesTokenCount\":%d,\"totalTokenCount\":%d}}\r\n\r\n", i, finish, 10*i, 100+10*i)
	}
}

// The last response of a stream has the counts of the whole, and no version of the model. A sum
// over all pieces would count a call four times.
func TestPinTheLastResponseOfAStreamHasItsUsage(t *testing.T) {
	t.Parallel()
	llm, err := gemini.NewModel(t.Context(), assistant, &genai.ClientConfig{
		APIKey: apiKey, Backend: genai.BackendGeminiAPI,
		HTTPClient: &http.Client{Transport: inProcess{&pieces{}}}, HTTPOptions: genai.HTTPOptions{BaseURL: "http://gemini.test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)}, Config: &genai.GenerateContentConfig{}}
	var got []string
	for resp, err := range llm.GenerateContent(t.Context(), req, true) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("partial %v, output %d, version %q, finish %q", resp.Partial, resp.UsageMetadata.CandidatesTokenCount, resp.ModelVersion, resp.FinishReason))
	}
	want := []string{
		`partial true, output 10, version "fake-001", finish ""`, `partial true, output 20, version "fake-001", finish ""`,
		`partial true, output 30, version "fake-001", finish "STOP"`, `partial false, output 30, version "", finish "STOP"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A model is told to answer without tools, and the declarations stay in the cached prefix.
func TestPinToolsAreSwitchedOffWithTheirDeclarationsSent(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := newServer(t)
		s.always = &reply{parts: []object{{"text": "Done."}}}
		req := &model.LLMRequest{
			Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)},
			Config: &genai.GenerateContentConfig{
				Tools:      []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "lookup", Description: "Looks."}}}},
				ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}},
			},
		}
		for _, err := range s.client(assistant).GenerateContent(t.Context(), req, stream) {
			if err != nil {
				t.Fatal(err)
			}
		}
		body := string(s.received(false)[0].body)
		if !strings.Contains(body, `"functionCallingConfig":{"mode":"NONE"}`) || !strings.Contains(body, `"name":"lookup"`) {
			t.Errorf("stream %v: sent is %s", stream, body)
		}
	}
}

// A stream that breaks off ends like one that is complete: without an error, and without a reason. Over ADK v2 it ends with
// an error, behind its parts.
func TestPinABrokenStreamEndsWithoutAnErrorOrAFinishReason(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	broken := say("This answer is long enough to be sent in three pieces.")
	broken.cut = betweenChunks
	s.will(assistant, broken)
	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Hello", genai.RoleUser)}, Config: &genai.GenerateContentConfig{}}
	var last *model.LLMResponse
	var failed error
	for resp, err := range s.client(assistant).GenerateContent(t.Context(), req, true) {
		if err != nil {
			failed = err
			continue
		}
		last = resp
	}
	if (failed != nil) != (adk.Major == 2) || failed != nil && !errors.Is(failed, io.ErrUnexpectedEOF) {
		t.Errorf("the error is %v", failed)
	}
	if last == nil || last.Partial != (failed != nil) || last.FinishReason != "" || last.UsageMetadata == nil {
		t.Errorf("the last response is %+v", last)
	}
}

// inProcess carries requests to a server without a network, so that a test can run with the time of a
// bubble.
type inProcess struct{ to http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, io.ErrUnexpectedEOF // the server has closed the connection
		}
	}()
	body := []byte(nil)
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	in := r.Clone(r.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	recorder := httptest.NewRecorder()
	p.to.ServeHTTP(recorder, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	resp = recorder.Result()
	resp.Request = r
	return resp, nil
}
