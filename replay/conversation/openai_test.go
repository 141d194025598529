package conversation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// messages returns a line with OpenAI-style messages.
func messages(list ...string) string { return `{"messages":[` + strings.Join(list, ",") + `]}` }

const (
	hello = `{"role":"user","content":"hello"}`
	hi    = `{"role":"assistant","content":"hi"}`
)

// calls returns an assistant's message with one call for each "id name".
func calls(list ...string) string {
	var out []string
	for _, entry := range list {
		id, name, _ := strings.Cut(entry, " ")
		out = append(out, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}`, id, name))
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(out, ",") + `]}`
}

func gives(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

func TestOpenAIMessagesAreRead(t *testing.T) {
	t.Parallel()
	check(t, []tale{
		{name: "the example of the documentation",
			text: `{"id": "a", "messages": [{"role": "system", "content": "You are terse."},
			{"role": "user", "content": "Is it cold in Oslo?"},
			{"role": "assistant", "content": null, "tool_calls": [
			{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}}]},
			{"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "-3"},
			{"role": "assistant", "content": "Yes.", "usage": {"prompt_tokens": 80, "completion_tokens": 2}}]}`,
			want: lines("U Is it cold in Oslo?", `A2 c1=weather{"city":"Oslo"}`, `R c1 weather {"result":"-3"}`, "A4 Yes.")},
		{name: "a list is a conversation too", text: `[` + hello + `,` + hi + `]`, want: lines("U hello", "A1 hi")},
		{name: "thoughts stand in front", text: messages(hello, `{"role":"assistant","content":"hi","reasoning":"greet"}`, hello, `{"role":"assistant","content":"hi","reasoning_content":"again"}`),
			want: lines("U hello", "A1 (greet) | hi", "U hello", "A3 (again) | hi")},
		{name: "thoughts written twice count once", text: messages(hello, `{"role":"assistant","content":"hi","reasoning":"greet","reasoning_content":"greet"}`),
			want: lines("U hello", "A1 (greet) | hi")},
		{name: "pictures, sound and text", text: messages(`{"role":"user","content":[{"type":"text","text":"what is this?"},
			{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"image_url","image_url":{"url":"https://x/y.png"}},
			{"type":"image_url","image_url":"data:,a%20b"},{"type":"input_audio","input_audio":{"data":"aGk","format":"mp3"}}]}`, `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`),
			want: lines("U what is this? | <image/png hi> | <image/* https://x/y.png> | <text/plain a b> | <audio/mp3 hi>", "A1 no")},
		{name: "arguments that are an object, nothing, or no JSON", text: messages(hello, `{"role":"assistant","tool_calls":[
			{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"b","function":{"name":"f","arguments":""}},{"id":"c","function":{"name":"f"}},
			{"id":"d","function":{"name":"f","arguments":"{\"x\":"}},{"id":"e","function":{"name":"f","arguments":"[1]"}},{"id":"g","function":{"name":"f","arguments":"null"}},{"id":"h","function":{"name":"f","arguments":[1]}}]}`,
			gives("a", "1"), gives("b", "2"), gives("c", "3"), gives("d", "4"), gives("e", "5"), gives("g", "6"), gives("h", "7")),
			want: lines("U hello", `A1 a=f{"x":1} | b=f{} | c=f{} | d=f{"arguments":"{\"x\":"} | e=f{"arguments":"[1]"} | g=f{"arguments":"null"} | h=f{"arguments":"[1]"}`,
				`R a f {"result":"1"}`, `R b f {"result":"2"}`, `R c f {"result":"3"}`, `R d f {"result":"4"}`, `R e f {"result":"5"}`, `R g f {"result":"6"}`, `R h f {"result":"7"}`)},
		{name: "a result that is JSON stays text, an error is one", text: messages(hello, calls("a f", "b f"), gives("a", `{"x":1}`), `{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"bro"},{"type":"text","text":"ken"}],"is_error":true}`),
			want: lines("U hello", "A1 a=f{} | b=f{}", `R a f {"result":"{\"x\":1}"}`, `R b f {"error":"bro\nken"}`)},
		{name: "the old way of calling functions", text: messages(hello, `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"x\":1}"},"tool_calls":null}`, `{"role":"function","name":"f","content":"1"}`, `{"role":"assistant","content":"done","function_call":null}`),
			want: lines("U hello", `A1 call-1=f{"x":1}`, `R call-1 f {"result":"1"}`, "A3 done"), notes: []string{"calls without an ID, given one: 1"}},
		{name: "null is a result without text", text: messages(hello, calls("a f"), `{"role":"tool","tool_call_id":"a","content":null}`), want: lines("U hello", "A1 a=f{}", `R a f {"result":""}`)},
	})
}

func TestAPictureInAToolsResultIsKept(t *testing.T) {
	t.Parallel()
	c := one(t, messages(hello, calls("a look"), `{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`))
	r := c.Turns[0].Steps[0].Responses[0]
	if len(r.Parts) != 1 || string(r.Parts[0].InlineData.Data) != "hi" || r.Response["result"] != "see" {
		t.Errorf("the result is %s", compact(r))
	}
}

func TestWhatStandsBesideTheMessagesIsRead(t *testing.T) {
	t.Parallel()
	c := one(t, `{"id":7,"model":"m","qa":[{"id":"q","question":"how old?","accepted_answers":["35",36],"literal_in_conversation":true},{"question":"who?"}],
		"compactions":[{"at_message":5,"trigger":"auto","preTokens":900,"summary":"S"}],"messages":[`+strings.Join([]string{
		`{"role":"system","content":"be brief"}`, hello, `{"role":"developer","content":"be kind"}`,
		`{"role":"assistant","content":"hi","ts":"2026-01-02T03:04:05.678Z","usage":{"prompt_tokens":80,"completion_tokens":2}}`, hello,
		`{"role":"assistant","content":"hi","ts":1767323045.5}`}, ",")+`]}`)
	if c.ID != "7" || c.Model != "m" || c.File != "f" || c.Line != 1 || c.Instruction != "be brief\n\nbe kind" {
		t.Errorf("read %q of model %q from %s:%d with instruction %q", c.ID, c.Model, c.File, c.Line, c.Instruction)
	}
	if got := compact(c.Questions); got != `[{"ID":"q","Text":"how old?","Answers":["35","36"],"Unanswerable":false,"Literal":true},{"ID":"1","Text":"who?","Answers":null,"Unanswerable":false,"Literal":false}]` {
		t.Errorf("questions %s", got)
	}
	if got := compact(c.Compactions); got != `[{"Turn":1,"Step":0,"Trigger":"auto","PromptTokens":900,"Summary":"S"}]` {
		t.Errorf("compactions %s", got)
	}
	first, second := c.Turns[0].Steps[0], c.Turns[1].Steps[0]
	if first.PromptTokens != 80 || first.OutputTokens != 2 || !first.Time.Equal(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)) {
		t.Errorf("the first answer: %+v", first)
	}
	if second.PromptTokens != 0 || !second.Time.Equal(time.Date(2026, 1, 2, 3, 4, 5, 5e8, time.UTC)) {
		t.Errorf("the second answer: %+v", second)
	}
	if len(c.Notes) != 1 || c.Notes[0] != "system messages after the beginning, added to the instruction: 1" {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestTimesOfAllKindsAreRead(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, ts := range []string{`"2026-01-02T03:04:05Z"`, `"2026-01-02T04:04:05+01:00"`, `"2026-01-02T03:04:05"`, `"2026-01-02 03:04:05"`, "1767323045", "1767323045000"} {
		c := one(t, messages(hello, `{"role":"assistant","content":"hi","ts":`+ts+`}`))
		if got := c.Turns[0].Steps[0].Time; !got.Equal(want) || len(c.Notes) != 0 {
			t.Errorf("%s is read as %v with notes %q", ts, got, c.Notes)
		}
	}
	for _, ts := range []string{`"yesterday"`, "-1", "1e300", "true", "{}"} {
		c := one(t, messages(hello, `{"role":"assistant","content":"hi","ts":`+ts+`}`))
		if got := c.Turns[0].Steps[0].Time; !got.IsZero() || len(c.Notes) != 1 {
			t.Errorf("%s is read as %v with notes %q, want a note", ts, got, c.Notes)
		}
	}
}
