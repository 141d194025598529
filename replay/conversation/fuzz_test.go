package conversation_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// FuzzReader checks that reading any file ends without a panic, that every error has a place, and
// that every conversation is well-formed.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		messages(hello, calls("a f", "a g"), gives("a", "1"), gives("a", "2"), calls("b f"), hi) + "\n" + named("b"),
		messages(hi, `{"role":"user","content":"so far","compact_summary":true}`, hi, `{"role":"system","content":[{"type":"text","text":"x"}]}`),
		`{"id":1,"compactions":[{"at_message":2,"preTokens":1}],"qa":[{"question":"q","accepted_answers":[1]}],"messages":[` + hello + `,` + hi + `,` + hello + `]}`,
		messages(hello, `{"role":"assistant","reasoning":"r","function_call":{"name":"f","arguments":"{}"},"ts":1.5,"usage":{"prompt_tokens":1}}`, `{"role":"function","name":"f","content":"1"}`),
		messages(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"input_audio","input_audio":{"data":"aGk"}}]}`),
		contents(`{"parts":"hello"}`, `{"role":"model","parts":[{"functionCall":{"name":"f"}},{"inline_data":{"data":"aGk"}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"text":"and"}]}`),
		`{"id":"s","events":` + compact(adkSession()) + `}`,
		says("s", "user", "a") + "\n" + says("", "bot", "b") + "\n{\n" + says("t", "user", "c"),
		"[" + hello + "," + hi + "]\r\n[" + says("", "user", "a") + `]`,
		claude("u null", "s", "user", `"hello"`) + "\n" + claude("a u", "s", "assistant", `[{"type":"tool_use","id":"t","name":"f"}]`) + "\n" + claude("r a", "s", "user", `[{"type":"tool_result","tool_use_id":"t"}]`),
		"[\n{\"conversation\":{\"speaker_a\":\"A\",\"session_1\":[{\"speaker\":\"A\",\"text\":\"x\"}]},\n\"qa\":[{\"category\":5}]}\n]",
		"\xef\xbb\xbf\n{", "[]", "{}", packed(f, named("a")),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r := conversation.NewReader(bytes.NewReader(file), "f")
		r.MaxLine = 1 << 16
		for {
			c, err := r.Next()
			var e *conversation.Error
			switch {
			case err == io.EOF:
				return
			case err == nil:
				wellFormed(t, c)
			case !errors.As(err, &e):
				t.Fatalf("%v is not an *Error", err)
			case e.File != "f" || e.Problem == "" || e.Line == 0 && !strings.Contains(e.Problem, "empty") && !strings.Contains(e.Problem, "gzip"):
				t.Errorf("the error %v has no place", err)
			}
		}
	})
}
