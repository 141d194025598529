package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// emergency ends a test that hangs.
const emergency = time.Minute

// request is one request of the chat as a server sees it.
type request struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role       string `json:"role"`
		Content    any    `json:"content"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// server is a server with OpenAI's protocol.
type server struct {
	url string
	mu  sync.Mutex
	got []request
}

func (s *server) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.got...)
}

// serve answers each request by its number, from 0, and its size in bytes.
func serve(t *testing.T, answer func(w http.ResponseWriter, n, size int)) *server {
	t.Helper()
	s := &server{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var got request
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("request %s: %v", body, err)
		}
		s.mu.Lock()
		n := len(s.got)
		s.got = append(s.got, got)
		s.mu.Unlock()
		answer(w, n, len(body))
	}))
	t.Cleanup(h.Close)
	s.url = h.URL + "/v1"
	return s
}

// part is an event of a stream.
func part(w http.ResponseWriter, delta string, finish string) {
	w.Header().Set("Content-Type", "text/event-stream")
	reason := "null"
	if finish != "" {
		reason = fmt.Sprintf("%q", finish)
	}
	_, _ = fmt.Fprintf(w, "data: {\"model\":\"local\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, reason)
	w.(http.Flusher).Flush()
}

func text(s string) string { return fmt.Sprintf(`{"content":%q}`, s) }

// done ends a stream.
func done(w http.ResponseWriter) {
	part(w, "{}", "stop")
	_, _ = fmt.Fprint(w, "data: {\"model\":\"local\",\"choices\":[],\"usage\":{\"prompt_tokens\":2000,\"completion_tokens\":5,\"total_tokens\":2005}}\n\ndata: [DONE]\n\n")
}

// home is a person who has used the command never before, and whose key must not be shown.
func home(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "",
		"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "", "OPENAI_BASE_URL": "", "LONGSESSION_API_KEY": "not-to-be-shown", "NO_COLOR": "1",
	} {
		t.Setenv(name, value)
	}
}

// chatted runs a chat with a server.
func chatted(t *testing.T, s *server, in string, stdout io.Writer, flags ...string) (code int, complaints string) {
	t.Helper()
	var stderr bytes.Buffer
	args := append([]string{"chat", "--base-url", s.url, "--model", "local", "--context-window", "32000", "--price", "input=1,output=2", "--no-ceiling"}, flags...)
	code = Run(t.Context(), args, strings.NewReader(in), stdout, &stderr)
	if strings.Contains(stderr.String(), "not-to-be-shown") {
		t.Errorf("the key is shown: %s", stderr.String())
	}
	return code, stderr.String()
}

// seen closes a channel as soon as a text was written.
type seen struct {
	all  bytes.Buffer
	text string
	once sync.Once
	was  chan struct{}
}

func (s *seen) Write(p []byte) (int, error) {
	n, err := s.all.Write(p)
	if strings.Contains(s.all.String(), s.text) {
		s.once.Do(func() { close(s.was) })
	}
	return n, err
}

// TestTheFirstWordIsShownBeforeTheSecondIsSent: the server sends on only when the person has seen what it sent.
func TestTheFirstWordIsShownBeforeTheSecondIsSent(t *testing.T) {
	home(t)
	out := &seen{text: "first", was: make(chan struct{})}
	s := serve(t, func(w http.ResponseWriter, _, _ int) {
		part(w, text("first"), "")
		select {
		case <-out.was:
		case <-time.After(emergency):
			t.Error("the first word was kept back until the whole answer had come")
		}
		part(w, text(" second"), "")
		done(w)
	})
	if code, complaints := chatted(t, s, "", out, "--file", filepath.Join(t.TempDir(), "a.db"), "-p", "hello"); code != exit.CodeOK {
		t.Errorf("exit code %d: %s", code, complaints)
	}
	if out.all.String() != "first second\n" {
		t.Errorf("out %q", out.all.String())
	}
}

// TestAServersToolCallsAreRun: the agent reads the folder, is told its size, and follows the project's instructions in
// all turns.
func TestAServersToolCallsAreRun(t *testing.T) {
	home(t)
	folder := t.TempDir()
	for name, body := range map[string]string{"go.mod": "module x\n", "AGENTS.md": "Answer in verse.\n", "notes.txt": "the magic number is 4711\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, func(w http.ResponseWriter, n, _ int) {
		if n == 0 {
			part(w, `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read_file","arguments":""}}]}`, "")
			part(w, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`, "")
			part(w, `{"tool_calls":[{"index":0,"function":{"arguments":"\"notes.txt\"}"}}]}`, "tool_calls")
		} else {
			part(w, text("It is there."), "")
		}
		done(w)
	})
	var out bytes.Buffer
	code, complaints := chatted(t, s, "which number?\nthanks\n", &out, "--file", filepath.Join(t.TempDir(), "a.db"), "--folder", folder, "--trust", "yes")
	got := s.requests()
	if code != exit.CodeOK || out.String() != "It is there.\nIt is there.\n" || len(got) != 3 {
		t.Fatalf("exit code %d, %d requests\n%s\n%s", code, len(got), out.String(), complaints)
	}
	for i, r := range got {
		if system, _ := r.Messages[0].Content.(string); r.Model != "local" || r.Messages[0].Role != "system" || !strings.Contains(system, "Answer in verse.") {
			t.Errorf("request %d: model %s, system %q", i, r.Model, system)
		}
	}
	last := got[1].Messages[len(got[1].Messages)-1]
	if content, _ := last.Content.(string); last.Role != "tool" || last.ToolCallID != "c1" || !strings.Contains(content, "4711") {
		t.Errorf("the tool's result: %+v", last)
	}
	if !strings.Contains(complaints, `· read_file {"path":"notes.txt"}`) || !strings.Contains(complaints, "📊 2K/") {
		t.Errorf("err:\n%s", complaints)
	}
}

// TestAServerThatFailsEndsThePipeAndKeepsTheSession: what was said can be taken up again.
func TestAServerThatFailsEndsThePipeAndKeepsTheSession(t *testing.T) {
	home(t)
	for name, c := range map[string]struct {
		fail func(w http.ResponseWriter)
		want string
	}{
		"wrong key": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided"}}`)
		}, "Incorrect API key provided; check the key"},
		"unknown model": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"error":{"message":"model 'local' not found"}}`)
		}, "check the base URL and the name of the model"},
		"HTML": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprint(w, "<!doctype html><title>Welcome</title>")
		}, "a web page instead of JSON"},
		"cut stream": {func(w http.ResponseWriter) { part(w, text("I was about to"), "") }, "cut off"},
		"no answer":  {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		"lost connection": {func(w http.ResponseWriter) {
			part(w, text("I was about to"), "")
			panic(http.ErrAbortHandler)
		}, "cut off"},
		"no JSON": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, "data: hello\n\n")
		}, "no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.db")
			failing := true
			s := serve(t, func(w http.ResponseWriter, _, _ int) {
				if failing {
					c.fail(w)
					return
				}
				part(w, text("Here I am."), "")
				done(w)
			})
			code, complaints := chatted(t, s, "the first\nthe second\n", io.Discard, "--file", file, "--session", "a", "--no-stream=false")
			if code != exit.CodeFailed || !strings.Contains(complaints, c.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, exit.CodeFailed, c.want, complaints)
			}
			failing = false
			var out bytes.Buffer
			if code, complaints := chatted(t, s, "", &out, "--file", file, "--resume", "-p", "the third"); code != exit.CodeOK || out.String() != "Here I am.\n" {
				t.Errorf("resumed: exit code %d, %q\n%s", code, out.String(), complaints)
			}
			got := s.requests()
			var said []string
			for _, m := range got[len(got)-1].Messages {
				if m.Role == "user" {
					said = append(said, fmt.Sprint(m.Content))
				}
			}
			if all := strings.Join(said, "|"); !strings.Contains(all, "the first") || !strings.Contains(all, "the third") || strings.Contains(all, "the second") {
				t.Errorf("the model was sent %q", said)
			}
			if code, out, complaints := called(t.Context(), "audit", "verify", file); code != exit.CodeOK {
				t.Errorf("the file: exit code %d\n%s%s", code, out, complaints)
			}
		})
	}
}

// TestAServersOverflowShortensTheSession: a server whose window is smaller than was said refuses by its size.
func TestAServersOverflowShortensTheSession(t *testing.T) {
	home(t)
	const room = 60_000 // bytes
	refused := 0
	var s *server
	s = serve(t, func(w http.ResponseWriter, n, size int) {
		if size > room {
			refused++
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":{"message":"This model's maximum context length is 12000 tokens. Please reduce the length of the messages.","code":"context_length_exceeded"}}`)
			return
		}
		if !s.requests()[n].Stream { // it is for a summary
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"model":"local","choices":[{"message":{"content":"The person tells a long story."},"finish_reason":"stop"}]}`)
			return
		}
		part(w, text("Noted, in short."), "")
		done(w)
	})
	var in strings.Builder
	for i := range 8 {
		fmt.Fprintf(&in, "Message %d. %s\n", i, strings.Repeat("A long story goes on and on. ", 400))
	}
	var out bytes.Buffer
	code, complaints := chatted(t, s, in.String(), &out, "--file", filepath.Join(t.TempDir(), "a.db"), "--no-tools")
	if code != exit.CodeOK || refused == 0 || strings.Count(out.String(), "Noted, in short.\n") != 8 {
		t.Errorf("exit code %d, %d of %d refused\n%s\n%s", code, refused, len(s.requests()), out.String(), complaints)
	}
}

// TestAServerThatHangsIsGivenUp after the time that was set, and the session goes on once it answers.
func TestAServerThatHangsIsGivenUp(t *testing.T) {
	home(t)
	file, over := filepath.Join(t.TempDir(), "a.db"), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, n, _ int) {
		if n == 0 {
			<-over
			return
		}
		part(w, text("Here I am."), "")
		done(w)
	})
	code, complaints := chatted(t, s, "", io.Discard, "--file", file, "--session", "a", "-p", "the first", "--server-timeout", "1")
	close(over)
	if code != exit.CodeFailed || !strings.Contains(complaints, "has sent nothing for too long (1s)") || !strings.Contains(complaints, "--server-timeout") {
		t.Errorf("exit code %d:\n%s", code, complaints)
	}
	var out bytes.Buffer
	if code, complaints := chatted(t, s, "", &out, "--file", file, "--resume", "-p", "the second"); code != exit.CodeOK || out.String() != "Here I am.\n" {
		t.Errorf("resumed: exit code %d, %q\n%s", code, out.String(), complaints)
	}
}
