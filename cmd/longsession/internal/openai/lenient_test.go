package openai_test

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/openai"
)

// both answers a streamed request with the reply as a part, and another one with it as a whole.
func both(t *testing.T, reply, finish string) openai.Config {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"stream":true`) {
			stream(w, `{"choices":[{"delta":`+reply+`}]}`, `{"choices":[{"delta":{},"finish_reason":"`+finish+`"}]}`, `[DONE]`)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":`+reply+`,"finish_reason":"`+finish+`"}]}`)
	})
}

// TestOtherFormsOfAReplyAreRead: servers write texts as a list of parts, and arguments as an object.
func TestOtherFormsOfAReplyAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reply, text, path string }{
		"a list of parts":        {`{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"It is "},{"type":"text","text":"7."}]}`, "It is 7.", ""},
		"arguments as an object": {`{"content":null,"tool_calls":[{"id":"c","function":{"name":"read","arguments":{"path":"a.txt"}}}]}`, "", "a.txt"},
		"no arguments":           {`{"content":"Wait.","tool_calls":[{"id":"c","function":{"name":"read","arguments":null}}]}`, "Wait.", ""},
	} {
		for _, streamed := range []bool{true, false} {
			_, whole, err := ask(t, both(t, c.reply, "stop"), hello, streamed)
			if err != nil {
				t.Errorf("%s, streamed %v: %v", name, streamed, err)
				continue
			}
			text, path := "", ""
			for _, p := range whole.Content.Parts {
				text += p.Text
				if p.FunctionCall != nil {
					path, _ = p.FunctionCall.Args["path"].(string)
				}
			}
			if text != c.text || path != c.path {
				t.Errorf("%s, streamed %v: text %q and path %q, want %q and %q", name, streamed, text, path, c.text, c.path)
			}
		}
	}
}

// TestOddCountsDoNotFailAnAnswer: a wrong count of tokens is no reason to lose what was said.
func TestOddCountsDoNotFailAnAnswer(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]*genai.GenerateContentResponseUsageMetadata{
		`{"prompt_tokens":12.0,"completion_tokens":3}`: {PromptTokenCount: 12, CandidatesTokenCount: 3, TotalTokenCount: 15},
		`{"prompt_tokens":-5,"completion_tokens":3}`:   {CandidatesTokenCount: 3, TotalTokenCount: 3},
		`{"prompt_tokens":7,"completion_tokens":99999999999,"completion_tokens_details":null}`: {
			PromptTokenCount: 7, CandidatesTokenCount: math.MaxInt32, TotalTokenCount: math.MaxInt32,
		},
		`{"prompt_tokens":"many","completion_tokens":3,"prompt_tokens_details":{"cached_tokens":null}}`: {CandidatesTokenCount: 3, TotalTokenCount: 3},
		`{"prompt_tokens":-1,"completion_tokens":-1}`:                                                   nil,
	} {
		cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			stream(w, `{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}`, `{"choices":[],"usage":`+usage+`}`, `[DONE]`)
		})
		_, whole, err := ask(t, cfg, hello, true)
		if err != nil {
			t.Errorf("%s: %v", usage, err)
			continue
		}
		if diff := cmp.Diff(want, whole.UsageMetadata); diff != "" {
			t.Errorf("%s: %s", usage, diff)
		}
	}
}

// TestAStreamWithoutItsTypeIsRead: some servers and proxies leave the type out, or give another one.
func TestAStreamWithoutItsTypeIsRead(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"data: ", ": ready\n\ndata: ", "event: message\ndata: ", "\n\ndata:"} {
		cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, begin+`{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		})
		parts, whole, err := ask(t, cfg, hello, true)
		if err != nil || len(parts) != 1 || whole.Content.Parts[0].Text != "Yes." {
			t.Errorf("%q: parts %q, error %v", begin, parts, err)
		}
	}
}

// TestAnotherFormIsNamedAsSuch: JSON that is not of the protocol is not called broken.
func TestAnotherFormIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	cfg := serve(t, func(w http.ResponseWriter, _ *http.Request) { stream(w, `{"choices":"none"}`) })
	if _, _, err := ask(t, cfg, hello, true); err == nil || !strings.Contains(err.Error(), `is not of OpenAI's protocol: "{\"choices\":\"none\"}"`) {
		t.Errorf("error %v", err)
	}
}

// TestAKeyThatAServerRepeatsIsNotShown, whether it refuses the request or fails in the middle.
func TestAKeyThatAServerRepeatsIsNotShown(t *testing.T) {
	t.Parallel()
	const key = "sk-0123456789abcdef"
	for name, handler := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"wrong key `+key+`!"}}`)
		},
		"in a stream": func(w http.ResponseWriter, _ *http.Request) {
			stream(w, `{"error":{"message":"wrong key `+key+`!"}}`)
		},
		"in another form": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `wrong key `+key+`!`) },
		"in broken JSON":  func(w http.ResponseWriter, _ *http.Request) { stream(w, `wrong key `+key+`!`) },
	} {
		cfg := serve(t, handler)
		cfg.Key = key
		if _, _, err := ask(t, cfg, hello, true); err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "wrong key (the key)!") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// reply is a transport that answers at once. As with any transport, the end of the request's context ends its body.
type reply string

func (r reply) RoundTrip(req *http.Request) (*http.Response, error) {
	body := &replyBody{req.Context(), strings.NewReader(string(r))}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
}

type replyBody struct {
	ctx context.Context
	r   io.Reader
}

func (b *replyBody) Close() error { return nil }

func (b *replyBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

// TestAReaderMayTakeItsTime: only the server's silence counts, and not that of a terminal which is stopped.
func TestAReaderMayTakeItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := openai.New(openai.Config{Model: "m", BaseURL: "http://localhost/v1", Idle: time.Minute, Client: &http.Client{Transport: reply(
			`data: {"choices":[{"delta":{"content":"Good "}}]}` + "\n" + strings.Repeat(": ping\n", 10_000) + `data: {"choices":[{"delta":{"content":"day."},"finish_reason":"stop"}]}` + "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for resp, err := range m.GenerateContent(t.Context(), hello, true) {
			if err != nil {
				t.Fatal(err)
			}
			if resp.Partial {
				time.Sleep(time.Hour)
				said += resp.Content.Parts[0].Text
			}
		}
		if said != "Good day." {
			t.Errorf("said %q", said)
		}
	})
}
