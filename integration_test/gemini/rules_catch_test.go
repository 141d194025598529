package gemini_test

import (
	"strings"
	"testing"
)

const (
	hello    = `{"role":"user","parts":[{"text":"hello"}]}`
	said     = `{"role":"model","parts":[{"text":"hi"}]}`
	called   = `{"role":"model","parts":[{"text":"Let me see."},{"functionCall":{"name":"lookup","args":{"n":1}}}]}`
	returned = `{"role":"user","parts":[{"functionResponse":{"name":"lookup","response":{"n":1}}}]}`
	twice    = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"lookup","args":{"n":1}}},{"functionCall":{"id":"b","name":"lookup","args":{"n":2}}}]}`
	both     = `{"role":"user","parts":[{"functionResponse":{"id":"b","name":"lookup","response":{"n":2}}},{"functionResponse":{"id":"a","name":"lookup","response":{"n":1}}}]}`
	please   = `{"role":"user","parts":[{"text":"Summarize.\n===== END OF THE RECORD =====\nNow."}]}`
	declared = `"tools":[{"functionDeclarations":[{"name":"lookup"}]}]`
)

func asking(contents ...string) string { return `{"contents":[` + strings.Join(contents, ",") + `]}` }

// alongside adds a field to a body.
func alongside(body, field string) string { return strings.TrimSuffix(body, "}") + "," + field + "}" }

func TestGoodRequestsKeepTheRules(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a question":              asking(hello),
		"two users' turns":        asking(hello, hello),
		"a conversation":          asking(hello, said, hello),
		"a tool":                  asking(hello, called, returned),
		"tools, one by one":       asking(hello, called, returned, called, returned, said, hello),
		"tools at once":           asking(hello, twice, both, hello),
		"a request for a summary": asking(please),
		"an agent's":              alongside(alongside(asking(hello), declared), `"systemInstruction":{"role":"user","parts":[{"text":"You are an agent."}]}`),
	} {
		if found := problems([]byte(body), false); found != nil {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// A server that accepts every request would prove nothing.
func TestRulesCatchEachViolation(t *testing.T) {
	t.Parallel()
	for _, bad := range []struct{ name, body, want string }{
		{"no JSON", `{"contents":`, "invalid JSON"},
		{"no UTF-8", asking("{\"role\":\"user\",\"parts\":[{\"text\":\"\xff\"}]}"), "not valid UTF-8"},
		{"an unknown field", alongside(asking(hello), `"custom_metadata":{}`), "unknown field"},
		{"an unknown field of a part", asking(`{"role":"user","parts":[{"text":"hello","author":"user"}]}`), "unknown field"},
		{"no contents", `{"contents":[]}`, "contents is not specified"},
		{"no role", asking(`{"parts":[{"text":"hello"}]}`), "valid role"},
		{"the role of a tool", asking(hello, called, strings.Replace(returned, "user", "function", 1)), "valid role"},
		{"no parts", asking(hello, `{"role":"model","parts":[]}`, hello), "parts must not be empty"},
		{"an empty part", asking(hello, `{"role":"model","parts":[{}]}`, hello), "required oneof"},
		{"an empty text", asking(`{"role":"user","parts":[{"text":""}]}`), "text is empty"},
		{"text and a call in one part", asking(hello, `{"role":"model","parts":[{"text":"x","functionCall":{"name":"lookup"}}]}`, returned), "required oneof"},
		{"half a character", asking(`{"role":"user","parts":[{"text":"caf` + "\uFFFD" + `"}]}`), "cut in two"},
		{"a call without a name", asking(hello, strings.ReplaceAll(called, "lookup", ""), returned), "name must not be empty"},
		{"the user calls", asking(hello, strings.Replace(called, "model", "user", 1), returned), "user's turn calls"},
		{"the model responds", asking(hello, called, strings.Replace(returned, "user", "model", 1), hello), "holds a function response"},
		{"a call first", asking(called, returned), "immediately after a user turn"},
		{"a call behind words", asking(hello, said, called, returned), "immediately after a user turn"},
		{"a call behind a call", asking(hello, called, called, returned), "immediately after a user turn"},
		{"a call unanswered", asking(hello, called, hello), "not answered"},
		{"a call last", asking(hello, called), "not answered"},
		{"an answer too late", asking(hello, called, hello, returned), "not answered"},
		{"a response without its call", asking(hello, said, returned), "immediately after a function call turn"},
		{"a response to a question", asking(hello, returned), "immediately after a function call turn"},
		{"one of two responses", asking(hello, twice, `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"lookup","response":{"n":1}}}]}`), "1 function responses for 2"},
		{"responses in two turns", asking(hello, twice, strings.Replace(both, `},{"functionResponse"`, `}]},{"role":"user","parts":[{"functionResponse"`, 1)), "1 function responses for 2"},
		{"a response twice", asking(hello, called, `{"role":"user","parts":[{"functionResponse":{"name":"lookup","response":{}}},{"functionResponse":{"name":"lookup","response":{}}}]}`), "2 function responses for 1"},
		{"another tool's response", asking(hello, called, strings.Replace(returned, "lookup", "order", 1)), "answers no call"},
		{"a response under another ID", asking(hello, twice, strings.Replace(both, `"id":"a"`, `"id":"c"`, 1)), "answers no call"},
		{"a response to another question", asking(hello, called, strings.Replace(returned, `"n":1`, `"n":2`, 1)), "answers no call"},
		{"words beside a response", asking(hello, called, strings.Replace(returned, `[{"func`, `[{"text":"by the way"},{"func`, 1)), "other parts too"},
		{"an ID of ADK", asking(hello, strings.ReplaceAll(twice, `"a"`, `"adk-1"`), strings.ReplaceAll(both, `"a"`, `"adk-1"`)), "ADK's own"},
		{"the model begins", asking(said, hello), "begins with a user turn"},
		{"the model ends", asking(hello, said), "ends with a user turn"},
		{"an instruction by the model", alongside(asking(hello), `"systemInstruction":{"role":"model","parts":[{"text":"x"}]}`), "system instruction has role"},
		{"an empty instruction", alongside(asking(hello), `"systemInstruction":{"parts":[{"text":""}]}`), "text is empty"},
		{"an instruction that calls", alongside(asking(hello), `"systemInstruction":{"parts":[{"functionCall":{"name":"lookup"}}]}`), "more than text"},
		{"a summary with tools", alongside(asking(please), declared), "carries tools"},
		{"a summary with an instruction", alongside(asking(please), `"systemInstruction":{"parts":[{"text":"You are an agent."}]}`), "carries an agent's instruction"},
	} {
		found := strings.Join(problems([]byte(bad.body), false), "\n")
		if !strings.Contains(found, bad.want) {
			t.Errorf("%s: found %q, want %q\n%s", bad.name, found, bad.want, bad.body)
		}
	}
}
