package conversation_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

func TestErrorsNamePlaceProblemAndRemedy(t *testing.T) {
	t.Parallel()
	const forms = `expected one of: {"messages":[...]} (OpenAI-style), {"contents":[...]} (Gemini-style), {"events":[...]} or an event with an "author" (ADK), a line with a "type" and a "uuid" or "sessionId" (Claude Code), {"conversation":{"session_1":[...]}} (LoCoMo)`
	for _, x := range []struct{ text, want string }{
		{"", "f: the file is empty; expected a conversation on each line"},
		{" \n\n\t\r\n", "f: the file is empty; expected a conversation on each line"},
		{"\xef\xbb\xbf", "f: the file is empty; expected a conversation on each line"},
		{`{"id":"x"`, "f:1:10: unexpected end of JSON input; expected a whole conversation or event on one line (jq -c . makes one line of it)"},
		{"\n" + `{"id":"x",}`, "f:2:11: invalid character '}' looking for beginning of object key string; expected JSON"},
		{`{"id":"x"} {}`, "f:1:12: invalid character '{' after top-level value; expected JSON"},
		{`null`, "f:1:1: the line is null; " + forms},
		{`  7`, "f:1:3: the line is a number; " + forms},
		{`"text"`, "f:1:1: the line is a string; " + forms},
		{`{"id":"x","turns":[]}`, "f:1:1: conversation x: the line has none of the known lists; " + forms},
		{`[{"text":"hi"}]`, "f:1:2: conversation f:1: the list does not begin with a message; expected messages with a role, contents with parts or events with an author"},
		{`[7]`, "f:1:2: conversation f:1: the first message is a number; expected an object"},
		{`[]`, "f:1: conversation f:1: no message of a user or an agent; expected at least one"},
		{`{"id":[],"messages":[]}`, "f:1:7: conversation f:1: id is a list; expected a string or a number"},
		{`{"id":"x","messages":{}}`, "f:1:22: conversation x: messages is an object; expected a list"},
		{`{"id":"x","messages":null}`, "f:1: conversation x: no message of a user or an agent; expected at least one"},
		{`{"id":"x","messages":[{"role":"system","content":"hi"}]}`, "f:1: conversation x: no message of a user or an agent; expected at least one"},
		{`{"id":"x","messages":[{"role":"user","content":"hi"}, {"role":"human"}]}`, `f:1:55: conversation x, message 1: role "human" is unknown; expected system, developer, user, assistant, tool or function`},
		{`{"id":"x","messages":["hi"]}`, "f:1:23: conversation x, message 0: the message is a string; expected an object with a role"},
		{`{"id":"x","messages":[{"role":"user","content":7}]}`, "f:1:48: conversation x, message 0: content is a number; expected a string, null or a list of parts"},
		{`{"id":"x","messages":[{"role":"user","content":[{"type":"video"}]}]}`, `f:1:49: conversation x, message 0: content[0] has the type "video"; expected text, refusal, image_url or input_audio`},
		{`{"id":"x","messages":[{"role":"user","content":[{"type":"text","text":{}}]}]}`, "f:1:71: conversation x, message 0: content[0].text is an object; expected a string"},
		{`{"id":"x","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%"}}]}]}`, "f:1:88: conversation x, message 0: content[0].image_url is a damaged data URL; expected data:TYPE;base64,DATA"},
		{`{"id":"x","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, "f:1:1: conversation x, message 0: content[0].image_url is nothing; expected {url}"},
		{`{"id":"x","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"a"}]}]}`, "f:1:88: conversation x, message 1: tool_calls[0].function is nothing; expected {name, arguments}"},
		{`{"id":"x","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"1"}]}`, `f:1:54: conversation x, message 1: a result for tool_call_id "a" (name ""), which no message before it calls; expected the call first`},
		{`{"id":"x","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hi","usage":{"prompt_tokens":"9"}}]}`, "f:1:114: conversation x, message 1: usage.prompt_tokens is a string; expected a number below 1e308"},
		{`{"id":"x","messages":[{"role":"user","content":"hi"}],"compactions":[{"trigger":"auto"}]}`, "f:1:70: conversation x: compactions[0] has no at_message; expected the index, from 0, of the message before which it happened"},
		{`{"id":"x","messages":[{"role":"user","content":"hi"}],"qa":[{"accepted_answers":[{}]}]}`, "f:1:82: conversation x: qa[0].accepted_answers is an object; expected strings"},
		{`{"id":"x","contents":[{"role":"bot","parts":[]}]}`, `f:1:23: conversation x, message 0: role "bot" is unknown; expected user, model, function or tool`},
		{`{"id":"x","contents":[{"role":"user","parts":[{"functionCall":{"name":"f"}}]}]}`, `f:1:23: conversation x, message 0: the user calls the function "f"; expected calls in the model's messages`},
		{`{"id":"x","contents":[{"role":"function","parts":[{"text":"f"}]}]}`, "f:1:23: conversation x, message 0: a tool's message has more than results; expected the rest in a message of the user or the model"},
		{`{"id":"x","contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":[1]}}]}]}`, "f:1:83: conversation x, message 0: parts[0].functionCall.args is a list; expected an object"},
		{`{"id":"x","contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":1e999}}}]}]}`, "f:1:83: conversation x, message 0: parts[0].functionCall.args cannot be read (json: cannot unmarshal number 1e999 into Go value of type float64); expected what the Gemini API writes"},
		{`{"id":"x","contents":[{"role":"model","parts":[{"executableCode":7}]}]}`, "f:1:66: conversation x, message 0: parts[0].executableCode cannot be read (json: cannot unmarshal number into Go value of type genai.ExecutableCode); expected what the Gemini API writes"},
		{`{"id":"x","contents":[{"role":"user","parts":[{"inlineData":{"data":"%"}}]}]}`, "f:1:69: conversation x, message 0: parts[0].inlineData.data is not base64: illegal base64 data at input byte 0; expected base64"},
		{`{"id":"x","events":[{"author":"user","content":[]}]}`, "f:1:48: conversation x, message 0: content is a list; expected an object with a role and parts"},
		{`{"id":"x","events":[{"author":"user"}]}`, "f:1: conversation x: no message of a user or an agent; expected at least one"},
	} {
		e := refused(t, x.text)
		if e.Error() != x.want {
			t.Errorf("%q\n gives %v\n want  %s", x.text, e, x.want)
		}
	}
}

func TestAnErrorWithoutAPlaceIsJustItsProblem(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		err  conversation.Error
		want string
	}{
		{conversation.Error{Message: -1, Problem: "p"}, "p"},
		{conversation.Error{Problem: "p"}, "message 0: p"},
		{conversation.Error{File: "f", Line: 3, Column: 4, Conversation: "c", Message: 5, Problem: "p"}, "f:3:4: conversation c, message 5: p"},
	} {
		if got := x.err.Error(); got != x.want {
			t.Errorf("%+v returns %q, want %q", x.err, got, x.want)
		}
	}
}

// Editors use the column to find the problem, so it must not depend on the text around it.
func TestColumnsCountBytesOfTheLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"messages":[{"role":"user","content":"schön"},{"role":"§"}]}`,
		`{ "x":[[{"a":"\"]}"},1.5e3,-2],true,null] , "messages": [ {"role":"user","content":"\\"} ,	{"role":"§"} ] }`,
		`[{"role":"user","content":""},{"role":"§"}]`,
	} {
		e := refused(t, text)
		if want := strings.Index(text, `{"role":"§"`) + 1; e.Column != want || e.Message != 1 {
			t.Errorf("%s\ngives %v; want column %d", text, e, want)
		}
	}
}
