package conversation_test

import (
	"strings"
	"testing"
)

// contents returns a line with Gemini-style contents.
func contents(list ...string) string { return `{"contents":[` + strings.Join(list, ",") + `]}` }

func TestGeminiContentsAreRead(t *testing.T) {
	t.Parallel()
	const asks = `{"role":"user","parts":[{"text":"hello"}]}`
	weather := lines("U Is it cold in Oslo?", `A1 call-1=weather{"city":"Oslo"}`, `R call-1 weather {"degrees":-3}`, "A3 Yes.")
	madeUp := []string{"calls without an ID, given one: 1"}
	check(t, []tale{
		{name: "as the API writes it", text: `{"id": "b", "systemInstruction": {"parts": [{"text": "You are terse."}]}, "contents": [
			{"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]},
			{"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
			{"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"degrees": -3}}}]},
			{"role": "model", "parts": [{"text": "Yes."}]}]}`, want: weather, notes: madeUp},
		{name: "as Python writes it, and with the role function", text: `{"contents": [
			{"role": "user", "parts": [{"text": "Is it cold in Oslo?", "function_call": null}]},
			{"role": "model", "parts": [{"function_call": {"name": "weather", "args": {"city": "Oslo"}}}]},
			{"role": "function", "parts": [{"function_response": {"name": "weather", "response": {"degrees": -3}}}]},
			{"role": "model", "parts": [{"text": "Yes."}]}]}`, want: weather, notes: madeUp},
		{name: "as Go writes it", text: `{"Contents": [
			{"Role": "user", "Parts": [{"Text": "Is it cold in Oslo?"}]},
			{"Role": "model", "Parts": [{"FunctionCall": {"Name": "weather", "Args": {"city": "Oslo"}}}]},
			{"Role": "tool", "Parts": [{"FunctionResponse": {"Name": "weather", "Response": {"degrees": -3}}}]},
			{"Role": "model", "Parts": [{"Text": "Yes."}]}]}`, want: weather, notes: madeUp},
		{name: "a list of contents, shortened as SDKs allow it", text: `[{"parts":"hello"},{"role":"model","parts":{"text":"hi"}}]`, want: lines("U hello", "A1 hi")},
		{name: "data in both alphabets of base64", text: contents(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"+/8="}},{"inline_data":{"mime_type":"image/png","data":"-_8"}},
			{"file_data":{"file_uri":"gs://x","mime_type":"text/plain"}}]}`, `{"role":"model","parts":[{"text":"a thought","thought":true,"thought_signature":"-_8="},{"text":"hi"}]}`),
			want: lines("U <image/png \xfb\xff> | <image/png \xfb\xff> | <text/plain gs://x>", "A1 (a thought) | hi")},
		{name: "parallel calls of one name are answered in order", text: contents(asks, `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":1}}},{"functionCall":{"name":"f","args":{"x":2}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"y":1}}},{"functionResponse":{"name":"f","response":{"y":2}}},{"text":"and?"}]}`, `{"role":"model","parts":[{"text":"hi"}]}`),
			want: lines("U hello", `A1 call-1=f{"x":1} | call-2=f{"x":2}`, `R call-1 f {"y":1}`, `R call-2 f {"y":2}`, "U and?", "A3 hi"), notes: []string{"calls without an ID, given one: 2"}},
		{name: "a result without anything in it", text: contents(asks, `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"}}]}`, `{"role":"user","parts":[{"functionResponse":{"id":"a"}}]}`),
			want: lines("U hello", "A1 a=f{}", "R a f {}")},
		{name: "parts that hold nothing", text: contents(asks, `{"role":"model","parts":[{},{"text":""},null,{"executable_code":{"code":"1+1","language":"PYTHON"}}]}`), want: lines("U hello", "A1")},
	})
}

func TestInstructionsOfAllKindsAreRead(t *testing.T) {
	t.Parallel()
	for _, instruction := range []string{
		`"systemInstruction":"be brief"`, `"system_instruction":[{"text":"be brief"}]`, `"SystemInstruction":{"parts":[{"text":"be brief"}]}`,
		`"config":{"system_instruction":{"parts":[{"text":"be"},{"text":"brief"}]}}`,
	} {
		c := one(t, `{`+instruction+`,"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`)
		if got := strings.ReplaceAll(c.Instruction, "\n", " "); got != "be brief" {
			t.Errorf("%s is read as %q", instruction, c.Instruction)
		}
	}
}

func TestMediaInAResponseAndCodeAreKept(t *testing.T) {
	t.Parallel()
	c := one(t, contents(`{"role":"user","parts":[{"text":"hello"}]}`,
		`{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"}},{"executableCode":{"code":"1+1","language":"PYTHON"}},{"code_execution_result":{"outcome":"OUTCOME_OK","output":"2"}}]}`,
		`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"x":1},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"file_data":{"file_uri":"gs://x"}}]}}]}`))
	s := c.Turns[0].Steps[0]
	if got := compact(s.Responses[0].Parts); got != `[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"fileData":{"fileUri":"gs://x"}}]` {
		t.Errorf("the response has the parts %s", got)
	}
	if p := s.Answer.Parts; len(p) != 3 || p[1].ExecutableCode.Code != "1+1" || p[2].CodeExecutionResult.Output != "2" {
		t.Errorf("the answer is %s", compact(p))
	}
}
