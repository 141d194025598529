package conversation_test

import (
	"strings"
	"testing"
)

func TestAnyOrderBecomesTurns(t *testing.T) {
	t.Parallel()
	const text = `{"role":"assistant","content":"and"}`
	const joined = "answers directly after another one, joined with it"
	const asked = "user messages directly after another one, joined with it"
	const missing = `calls without a result, given ` + `{"error": "the recording has no result for this call"}`
	check(t, []tale{
		{name: "answers that follow one another are one", text: messages(hello, calls("a f"), calls("b g"), gives("a", "1"), gives("b", "2"), hi),
			want: lines("U hello", "A1 a=f{} | b=g{}", `R a f {"result":"1"}`, `R b g {"result":"2"}`, "A5 hi"), notes: []string{joined + ": 1"}},
		{name: "a result between them parts them", text: messages(hello, calls("a f", "b f"), gives("a", "1"), calls("c g"), gives("b", "2"), gives("c", "3"), hi),
			want: lines("U hello", "A1 a=f{} | b=f{}", `R a f {"result":"1"}`, `R b f {"result":"2"}`, "A3 c=g{}", `R c g {"result":"3"}`, "A6 hi")},
		{name: "an answer without a call is never in the middle", text: messages(hello, calls("a f"), gives("a", "1"), text, gives("a", "2"), hi),
			want: lines("U hello", "A1 a=f{}", `R a f {"result":"2"}`, "A3 and | hi"), notes: []string{"results left out because a later one answers the same call: 1", joined + ": 1"}},
		{name: "the user interrupts", text: messages(hello, calls("a f"), hello, gives("a", "late"), hi),
			want: lines("U hello", "A1 a=f{}", `R a f {"result":"late"}`, "U hello", "A4 hi")},
		{name: "a call without a result", text: messages(hello, calls("a f", "b f"), gives("b", "1")),
			want: lines("U hello", "A1 a=f{} | b=f{}", "R a f "+noResult, `R b f {"result":"1"}`), notes: []string{missing + ": 1"}},
		{name: "user messages that follow one another are one", text: messages(hello, hello, hi, hello), want: lines("U hello | hello", "A2 hi", "U hello"), notes: []string{asked + ": 1"}},
		{name: "unanswered user messages at the end are one", text: messages(hello, hi, hello, hello), want: lines("U hello", "A1 hi", "U hello | hello"), notes: []string{asked + ": 1"}},
		{name: "an ID is used again before it is answered", text: messages(hello, calls("a f"), hello, calls("a f"), gives("a", "1")),
			want: lines("U hello", "A1 a=f{}", "R a f "+noResult, "U hello", "A3 a-2=f{}", `R a-2 f {"result":"1"}`), notes: []string{"calls with the ID of an earlier one, given another: 1", missing + ": 1"}},
		{name: "without answers each is a turn", text: messages(hello, hello), want: lines("U hello", "U hello")},
		{name: "an answer comes first", text: messages(hi, hello, hi), want: lines("U (start)", "A0 hi", "U hello", "A2 hi"), notes: []string{"user messages (start), made up before a first answer: 1"}},
		{name: "empty messages", text: messages(`{"role":"user","content":""}`, `{"role":"assistant","content":""}`, hi, `{"role":"user","content":[]}`, hi),
			want: lines("U (empty)", "A2 hi", "U (empty)", "A4 hi"), notes: []string{"empty user messages, given the text (empty): 2", "empty answers, left out: 1"}},
		{name: "IDs that are used again", text: messages(hello, calls("a f"), gives("a", "1"), calls("a f", "a f"), gives("a", "2"), gives("a", "3"), calls("a-2 f"), gives("a-2", "4")),
			want:  lines("U hello", "A1 a=f{}", `R a f {"result":"1"}`, "A3 a-3=f{} | a-4=f{}", `R a-3 f {"result":"2"}`, `R a-4 f {"result":"3"}`, "A6 a-2=f{}", `R a-2 f {"result":"4"}`),
			notes: []string{"calls with the ID of an earlier one, given another: 2"}},
		{name: "IDs and names that are missing", text: messages(hello, calls(" ", "call-1 f"), gives("call-1", "1"), gives("", "2")),
			want:  lines("U hello", "A1 call-2=tool{} | call-1=f{}", `R call-2 tool {"result":"2"}`, `R call-1 f {"result":"1"}`),
			notes: []string{"calls without a name, named tool: 1", "calls without an ID, given one: 1"}},
		{name: "a result without an ID is that of the newest call of its name", text: messages(hello, calls("a f"), hello, calls("b f", "c g"), `{"role":"tool","name":"g","content":"1"}`, `{"role":"tool","name":"f","content":"2"}`, `{"role":"tool","name":"g","content":"3"}`),
			want:  lines("U hello", "A1 a=f{}", "R a f "+noResult, "U hello", "A3 b=f{} | c=g{}", `R b f {"result":"2"}`, `R c g {"result":"3"}`),
			notes: []string{"results left out because a later one answers the same call: 1", missing + ": 1"}},
	})
}

func TestUsageOfJoinedAnswersIsThatOfTheFirstPrompt(t *testing.T) {
	t.Parallel()
	c := one(t, messages(hello, `{"role":"assistant","content":"a","usage":{"prompt_tokens":100,"completion_tokens":3}}`, `{"role":"assistant","content":"b","usage":{"prompt_tokens":110,"completion_tokens":4}}`))
	if s := c.Turns[0].Steps[0]; s.PromptTokens != 100 || s.OutputTokens != 7 {
		t.Errorf("%d prompt and %d output tokens, want 100 and 7", s.PromptTokens, s.OutputTokens)
	}
}

func TestTheApplicationsOwnSummaryIsNotTheUsersWord(t *testing.T) {
	t.Parallel()
	const summary = `{"role":"user","content":"so far: a lot","compact_summary":true}`
	inTheMiddle := []string{hello, calls("a f"), gives("a", "1"), summary, calls("b f"), gives("b", "2"), hi}
	for _, compactions := range []string{`[]`, `[{"at_message":3}]`} {
		c := one(t, `{"compactions":`+compactions+`,"messages":[`+strings.Join(inTheMiddle, ",")+`]}`)
		if got, want := told(c), lines("U hello", "A1 a=f{}", `R a f {"result":"1"}`, "A4 b=f{}", `R b f {"result":"2"}`, "A6 hi"); got != want {
			t.Errorf("read as\n%s\nwant\n%s", got, want)
		}
		if len(c.Compactions) != 1 || c.Compactions[0].Step != 1 || c.Compactions[0].Summary != "so far: a lot" {
			t.Errorf("with compactions %s: %+v", compactions, c.Compactions)
		}
	}
	c := one(t, messages(hello, calls("a f"), summary, calls("b f"), gives("a", "1")))
	if n := len(c.Turns[0].Steps); n != 2 || c.Compactions[0].Step != 1 {
		t.Errorf("%d steps, compaction before step %d: answers were joined over a compaction", n, c.Compactions[0].Step)
	}
}

func TestCompactionsPointAtTheAnswerBehindThem(t *testing.T) {
	t.Parallel()
	c := one(t, `{"compactions":[{"at_message":9,"summary":"none"},{"at_message":2,"summary":"second"},{"at_message":0,"summary":"first"},{"at_message":4,"summary":"third"}],"messages":[`+
		strings.Join([]string{hello, hi, hello, hi, `{"role":"assistant","content":"more"}`, hello}, ",")+`]}`)
	want := `[{"Turn":0,"Step":0,"Trigger":"","PromptTokens":0,"Summary":"first"},{"Turn":1,"Step":0,"Trigger":"","PromptTokens":0,"Summary":"second"},{"Turn":1,"Step":0,"Trigger":"","PromptTokens":0,"Summary":"third"}]`
	if got := compact(c.Compactions); got != want {
		t.Errorf("compactions %s, want %s", got, want)
	}
	if last := c.Notes[len(c.Notes)-1]; last != "recorded compactions after the last answer, left out: 1" {
		t.Errorf("notes %q", c.Notes)
	}
}
