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
		{"answers that follow one another are one", messages(hello, calls("a f"), calls("b g"), gives("a", "1"), gives("b", "2"), hi),
			lines("U hello", "A1 a=f{} | b=g{}", `R a f {"result":"1"}`, `R b g {"result":"2"}`, "A5 hi"), []string{joined + ": 1"}},
		{"a result between them parts them", messages(hello, calls("a f", "b f"), gives("a", "1"), calls("c g"), gives("b", "2"), gives("c", "3"), hi),
			lines("U hello", "A1 a=f{} | b=f{}", `R a f {"result":"1"}`, `R b f {"result":"2"}`, "A3 c=g{}", `R c g {"result":"3"}`, "A6 hi"), nil},
		{"an answer without a call is never in the middle", messages(hello, calls("a f"), gives("a", "1"), text, gives("a", "2"), hi),
			lines("U hello", "A1 a=f{}", `R a f {"result":"2"}`, "A3 and | hi"), []string{"results left out because a later one answers the same call: 1", joined + ": 1"}},
		{"the user interrupts", messages(hello, calls("a f"), hello, gives("a", "late"), hi),
			lines("U hello", "A1 a=f{}", `R a f {"result":"late"}`, "U hello", "A4 hi"), nil},
		{"a call without a result", messages(hello, calls("a f", "b f"), gives("b", "1")),
			lines("U hello", "A1 a=f{} | b=f{}", "R a f "+noResult, `R b f {"result":"1"}`), []string{missing + ": 1"}},
		{"user messages that follow one another are one", messages(hello, hello, hi, hello), lines("U hello | hello", "A2 hi", "U hello"), []string{asked + ": 1"}},
		{"so are those at the end, which nobody answers", messages(hello, hi, hello, hello), lines("U hello", "A1 hi", "U hello | hello"), []string{asked + ": 1"}},
		{"an ID is used again before it is answered", messages(hello, calls("a f"), hello, calls("a f"), gives("a", "1")),
			lines("U hello", "A1 a=f{}", "R a f "+noResult, "U hello", "A3 a-2=f{}", `R a-2 f {"result":"1"}`), []string{"calls with the ID of an earlier one, given another: 1", missing + ": 1"}},
		{"without answers each is a turn", messages(hello, hello), lines("U hello", "U hello"), nil},
		{"an answer comes first", messages(hi, hello, hi), lines("U (start)", "A0 hi", "U hello", "A2 hi"), []string{"user messages (start), made up before a first answer: 1"}},
		{"empty messages", messages(`{"role":"user","content":""}`, `{"role":"assistant","content":""}`, hi, `{"role":"user","content":[]}`, hi),
			lines("U (empty)", "A2 hi", "U (empty)", "A4 hi"), []string{"empty user messages, given the text (empty): 2", "empty answers, left out: 1"}},
		{"IDs that are used again", messages(hello, calls("a f"), gives("a", "1"), calls("a f", "a f"), gives("a", "2"), gives("a", "3"), calls("a-2 f"), gives("a-2", "4")),
			lines("U hello", "A1 a=f{}", `R a f {"result":"1"}`, "A3 a-3=f{} | a-4=f{}", `R a-3 f {"result":"2"}`, `R a-4 f {"result":"3"}`, "A6 a-2=f{}", `R a-2 f {"result":"4"}`),
			[]string{"calls with the ID of an earlier one, given another: 2"}},
		{"IDs and names that are missing", messages(hello, calls(" ", "call-1 f"), gives("call-1", "1"), gives("", "2")),
			lines("U hello", "A1 call-2=tool{} | call-1=f{}", `R call-2 tool {"result":"2"}`, `R call-1 f {"result":"1"}`),
			[]string{"calls without a name, named tool: 1", "calls without an ID, given one: 1"}},
		{"a result without an ID is that of the newest call of its name", messages(hello, calls("a f"), hello, calls("b f", "c g"), `{"role":"tool","name":"g","content":"1"}`, `{"role":"tool","name":"f","content":"2"}`, `{"role":"tool","name":"g","content":"3"}`),
			lines("U hello", "A1 a=f{}", "R a f "+noResult, "U hello", "A3 b=f{} | c=g{}", `R b f {"result":"2"}`, `R c g {"result":"3"}`),
			[]string{"results left out because a later one answers the same call: 1", missing + ": 1"}},
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
