package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// askGemini runs a chat with a model of Gemini at a local server.
func askGemini(ctx context.Context, file, text string, flags ...string) (code int, out, complaints string) {
	var stdout, stderr bytes.Buffer
	args := append([]string{"chat", "--model", "gemini-3.1-pro-preview", "--max-session-cost-usd", "1", "--no-tools", "--file", file, "--session", "a", "-p", text}, flags...)
	code = Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestAGeminiThatFailsSaysWhatToDo, shows no key, and leaves a session that goes on.
func TestAGeminiThatFailsSaysWhatToDo(t *testing.T) {
	home(t)
	t.Setenv("GEMINI_API_KEY", "AIza-not-to-be-shown")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "")
	refuse := func(code int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"wrong key":     {refuse(400, "application/json", `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`), "Gemini answered with status 400: API key not valid. Please pass a valid API key.; check the key in GEMINI_API_KEY"},
		"refused key":   {refuse(403, "application/json", `{"error":{"code":403,"message":"Method doesn't allow unregistered callers.","status":"PERMISSION_DENIED"}}`), "status 403: Method doesn't allow unregistered callers.; check the key in GEMINI_API_KEY"},
		"unknown model": {refuse(404, "application/json", `{"error":{"code":404,"message":"models/gemini-3.1-pro-preview is not found.","status":"NOT_FOUND"}}`), "status 404: models/gemini-3.1-pro-preview is not found.; check the name of the model, gemini-3.1-pro-preview"},
		"quota":         {refuse(429, "application/json", `{"error":{"code":429,"message":"Too much.","status":"RESOURCE_EXHAUSTED"}}`), "status 429: Too much.; wait, then try again, or look at the quota of the key"},
		"overloaded":    {refuse(503, "application/json", `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`), "status 503: The model is overloaded.; try again later"},
		"no reason":     {refuse(500, "application/json", `{}`), "Gemini answered with status 500: "},
		"HTML":          {refuse(200, "text/html; charset=utf-8", "<!doctype html><title>Log in</title>"), "Gemini answered with a web page instead of JSON; check GOOGLE_GEMINI_BASE_URL"},
		"HTML error":    {refuse(502, "text/html", "<html><h1>502 Bad Gateway"), "Gemini answered with a web page instead of JSON; check GOOGLE_GEMINI_BASE_URL"},
		"lost":          {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "Gemini cannot be reached: EOF; check GOOGLE_GEMINI_BASE_URL"},
		"hangs":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "Gemini has sent nothing for too long (1s): try again, or allow more by --server-timeout"},
		"cut in the middle": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"I was\"}]}}]}\r\n\r\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "Gemini's answer is not complete: the stream was cut off: unexpected EOF"},
		"hangs in the middle": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"I was\"}]}}]}\r\n\r\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "Gemini has sent nothing for too long (1s): try again, or allow more by --server-timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			var failing atomic.Bool
			failing.Store(true)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if failing.Load() {
					c.answer(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = fmt.Fprint(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Here I am.\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":3,\"totalTokenCount\":12}}\r\n\r\n")
			}))
			t.Cleanup(s.Close)
			t.Setenv("GOOGLE_GEMINI_BASE_URL", s.URL)
			file := filepath.Join(t.TempDir(), "a.db")
			var flags []string
			if strings.HasPrefix(name, "hangs") { // the others may take their time
				flags = []string{"--server-timeout", "1"}
			}
			code, _, complaints := askGemini(t.Context(), file, "the first", flags...)
			if code != exit.CodeFailed || !strings.Contains(complaints, c.want) || strings.Contains(complaints, "not-to-be-shown") || strings.Contains(complaints, "Details:") {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, exit.CodeFailed, c.want, complaints)
			}
			failing.Store(false)
			code, out, complaints := askGemini(t.Context(), file, "the second")
			if code != exit.CodeOK || out != "Here I am.\n" {
				t.Errorf("resumed: exit code %d, %q\n%s", code, out, complaints)
			}
		})
	}
}

// TestAVertexThatFailsSaysWhatToDo as Gemini does, and the login reaches the server.
func TestAVertexThatFailsSaysWhatToDo(t *testing.T) {
	home(t)
	for _, unset := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION"} {
		t.Setenv(unset, "")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "1")
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"I was\"}]}}]}\r\n\r\n")
		w.(http.Flusher).Flush()
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"hangs":             {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "Gemini has sent nothing for too long (1s)"},
		"cut in the middle": {func(w http.ResponseWriter, _ *http.Request) { begin(w); panic(http.ErrAbortHandler) }, "Gemini's answer is not complete"},
		"a page":            {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }, "check GOOGLE_VERTEX_BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c.answer(w, r)
			}))
			t.Cleanup(s.Close)
			t.Setenv("GOOGLE_VERTEX_BASE_URL", s.URL)
			var flags []string
			if name == "hangs" {
				flags = []string{"--server-timeout", "1"}
			}
			code, _, complaints := askGemini(t.Context(), filepath.Join(t.TempDir(), "a.db"), "the first", flags...)
			if code != exit.CodeFailed || !strings.Contains(complaints, c.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, exit.CodeFailed, c.want, complaints)
			}
		})
	}

	t.Run("a login", func(t *testing.T) {
		var asked atomic.Value
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.URL.Path == "/token" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"access_token":"a-token","token_type":"Bearer","expires_in":3600}`)
				return
			}
			asked.Store(r.Host + r.URL.Path + " " + r.Header.Get("Authorization"))
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Here I am.\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n")
		}))
		t.Cleanup(s.Close)
		everywhere(t, s)
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", accountFile(t))
		t.Setenv("GOOGLE_CLOUD_PROJECT", "a-project")
		t.Setenv("GOOGLE_CLOUD_LOCATION", "global")
		t.Setenv("GOOGLE_VERTEX_BASE_URL", "")
		code, out, complaints := askGemini(t.Context(), filepath.Join(t.TempDir(), "a.db"), "the first")
		const want = "aiplatform.googleapis.com/v1beta1/projects/a-project/locations/global/publishers/google/models/gemini-3.1-pro-preview:streamGenerateContent Bearer a-token"
		if code != exit.CodeOK || out != "Here I am.\n" || asked.Load() != want {
			t.Errorf("exit code %d, %q, the server was asked for %v\n%s", code, out, asked.Load(), complaints)
		}
	})
}

// everywhere makes a server that of all addresses until the test ends.
func everywhere(t *testing.T, s *httptest.Server) {
	t.Helper()
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	all := s.Client().Transport.(*http.Transport).Clone()
	all.TLSClientConfig.InsecureSkipVerify = true
	all.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
	http.DefaultTransport = all
}

// accountFile is a file with which one logs in to Google's cloud.
func accountFile(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "a-project", "client_email": "somebody@example.com", "token_uri": "https://example.com/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, account, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAGeminiStreamThatEndsWithoutAReasonIsTold, even as the first and only answer: somebody in between has cut it, and nothing
// in the protocol fails.
func TestAGeminiStreamThatEndsWithoutAReasonIsTold(t *testing.T) {
	home(t)
	t.Setenv("GEMINI_API_KEY", "AIza-not-to-be-shown")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "")
	for reason, told := range map[string]bool{"": true, `,"finishReason":"STOP"`: false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			for _, part := range []string{`{"text":"I was"}]}`, `{"text":" about to"}]}` + reason} {
				_, _ = fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s}],\"modelVersion\":\"gemini-3.1-pro-preview\"}\r\n\r\n", part)
			}
		}))
		t.Cleanup(s.Close)
		t.Setenv("GOOGLE_GEMINI_BASE_URL", s.URL)
		code, out, complaints := askGemini(t.Context(), filepath.Join(t.TempDir(), "a.db"), "the first")
		if code != exit.CodeOK || out != "I was about to\n" || strings.Contains(complaints, "the answer may be cut") != told {
			t.Errorf("finish reason %q: exit code %d, %q\n%s", reason, code, out, complaints)
		}
	}
}
