package conversation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// fixture reads every conversation of a file in testdata.
func fixture(t *testing.T, name string) []*conversation.Conversation {
	t.Helper()
	return readFile(t, filepath.Join("testdata", name))
}

func TestAClaudeCodeTranscriptIsRead(t *testing.T) {
	t.Parallel()
	all := fixture(t, "claude.jsonl")
	if len(all) != 2 {
		t.Fatalf("%d conversations, want the session and its sub-agent", len(all))
	}
	c := all[0]
	want := lines(
		"U Why does the build of the lighthouse fail?",
		`A3 (Look at the log first.) | toolu_1=Read{"file_path":"build.log"} | toolu_2=Bash{"command":"go version"}`,
		`R toolu_1 Read {"result":"lamp.go:7: undefined: Bulb"}`,
		`R toolu_2 Bash {"error":"go: command not found"}`,
		"A8 Bulb is not defined.",
		"U Define it.",
		"A15 Defined.",
		"U Does it build? | <image/png hi>",
		"A19 Yes.",
	)
	if got := told(c); got != want {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
	if c.ID != "s1" || c.Model != "claude-sonnet-4-5" || c.Line != 3 {
		t.Errorf("session %q of %q at line %d", c.ID, c.Model, c.Line)
	}
	first := c.Turns[0].Steps[0]
	// The prompt count adds up the tokens that were not cached, those written to the cache and
	// those read from it. The last line of an answer has its whole output count.
	if first.PromptTokens != 3+900+11_000 || first.OutputTokens != 61 || first.Time.IsZero() {
		t.Errorf("%d tokens in, %d out at %v", first.PromptTokens, first.OutputTokens, first.Time)
	}
	if len(c.Compactions) != 1 {
		t.Fatalf("%d compactions", len(c.Compactions))
	}
	if x := c.Compactions[0]; x.Turn != 2 || x.Step != 0 || x.Trigger != "manual" || x.PromptTokens != 12_345 || x.Summary != "This session is being continued: Bulb was defined in lamp.go." {
		t.Errorf("compaction %+v", x)
	}
	wantNotes := []string{
		"messages on branches that the user left, left out: 2",
		`lines of the type "file-history-snapshot", left out: 1`,
		"answers that the application made up, left out: 1",
		`blocks of the type "server_tool_use", left out: 1`,
	}
	if fmt.Sprint(c.Notes) != fmt.Sprint(wantNotes) {
		t.Errorf("notes %q, want %q", c.Notes, wantNotes)
	}
	if got := told(all[1]); all[1].ID != "s1/agent-77" || got != lines("U Find where lamps are defined.", "A13 In lamp.go.") {
		t.Errorf("%s reads as\n%s", all[1].ID, got)
	}
}

// claude returns a line of a transcript. links is "uuid parentUuid".
func claude(links, session, kind, content string) string {
	uuid, parent, _ := strings.Cut(links, " ")
	if parent = fmt.Sprintf("%q", parent); parent == `"null"` {
		parent = "null"
	}
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":%q,"type":%q,"message":{"role":%q,"content":%s}}`, uuid, parent, session, kind, kind, content)
}

func TestLinesOfATranscriptBelongWhereTheirParentsDo(t *testing.T) {
	t.Parallel()
	hello, hi := claude("u1 null", "s1", "user", `"hello"`), claude("a1 u1", "s1", "assistant", `"hi"`)
	call := strings.Replace(claude("c1 u1", "s1", "assistant", `[{"type":"tool_use","id":"t","name":"look","input":{}}]`), `"role"`, `"id":"m1","role"`, 1)
	found := claude("r1 c1", "s1", "user", `[{"type":"tool_result","tool_use_id":"t","content":"x"}]`)
	for _, x := range []struct {
		name string
		file []string
		want []string // one for each conversation
	}{
		{"one session", []string{hello, hi}, []string{"s1: U hello A1 hi"}},
		{"two sessions in a file", []string{hello, hi, claude("u2 null", "s2", "user", `"again"`)}, []string{"s1: U hello A1 hi", "s2: U again"}},
		{"continued under a new name", []string{hello, hi, claude("u2 a1", "s2", "user", `"more"`), claude("a2 u2", "s2", "assistant", `"done"`)},
			[]string{"s2: U hello A1 hi U more A3 done"}},
		{"a parent that is not in the file", []string{hello, hi, claude("u2 gone", "s1", "user", `"more"`)}, []string{"s1: U hello A1 hi U more"}},
		{"begun anew", []string{hello, hi, claude("u2 null", "s1", "user", `"other"`)}, []string{"s1: U other"}},
		{"a parent that is itself", []string{hello, claude("a1 a1", "s1", "assistant", `"hi"`)}, []string{"s1: U hello A1 hi"}},
		{"interrupted", []string{hello, claude("a1 u1", "s1", "assistant", `[{"type":"tool_use","id":"t","name":"look","input":{}}]`), claude("u2 a1", "s1", "user", `"stop"`)},
			[]string{"s1: U hello A1 t=look{} R t look " + noResult + " U stop"}},
		{"sub-agents of old files", []string{hello,
			strings.Replace(claude("x1 null", "s1", "user", `"find"`), `"type"`, `"isSidechain":true,"type"`, 1), hi,
			strings.Replace(claude("x2 x1", "s1", "assistant", `"found"`), `"type"`, `"isSidechain":true,"type"`, 1)},
			[]string{"s1: U hello A2 hi", "s1/sidechain-1: U find A3 found"}},
		{"a summary without a boundary", []string{hello, hi,
			strings.Replace(claude("u2 null", "s1", "user", `"so far"`), `"type"`, `"isCompactSummary":true,"type"`, 1), claude("u3 u2", "s1", "user", `"go on"`), claude("a3 u3", "s1", "assistant", `"ok"`)},
			[]string{"s1: U hello A1 hi U go on A4 ok"}},
		{"followed by its own copy", []string{hello, call, found, hello, call, found, claude("u2 r1", "s1", "user", `"more"`)},
			[]string{`s1: U hello A4 t=look{} R t look {"result":"x"} U more`}},
		{"a block written twice", []string{hello, call, strings.Replace(call, `"c1"`, `"c2"`, 1), found},
			[]string{`s1: U hello A1 t=look{} R t look {"result":"x"}`}},
		{"followed by another form", []string{hello, hi, named("b")}, []string{"s1: U hello A1 hi", "b: U hello A1 hi"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			all, errs := readAll(strings.Join(x.file, "\n"))
			var got []string
			for _, c := range all {
				wellFormed(t, c)
				got = append(got, c.ID+": "+strings.ReplaceAll(told(c), "\n", " "))
			}
			if fmt.Sprint(got) != fmt.Sprint(x.want) || len(errs) > 0 {
				t.Errorf("read as\n%s\n%v\nwant\n%s", strings.Join(got, "\n"), errs, strings.Join(x.want, "\n"))
			}
		})
	}
}

func TestABrokenTranscriptIsRefusedWhole(t *testing.T) {
	t.Parallel()
	hello, hi := claude("u1 null", "s1", "user", `"hello"`), claude("a1 u1", "s1", "assistant", `"hi"`)
	for _, x := range []struct{ line, want string }{
		{`{"type":"user","uuid":"u","sessionId":"s1","message":`, "f:2:54: conversation s1, message 1: unexpected end of JSON input; expected a whole conversation or event on one line (jq -c . makes one line of it)"},
		{`{"type":"user","uuid":"u","sessionId":"s1"}`, "f:2:1: conversation s1, message 1: message is nothing; expected an object with a role and content"},
		{`{"type":"user","uuid":"u","sessionId":"s1","message":{"content":7}}`, "f:2:65: conversation s1, message 1: message.content is a number; expected a string or a list of blocks"},
		{`{"type":"user","uuid":"u","sessionId":"s1","message":{"content":["x"]}}`, "f:2:66: conversation s1, message 1: message.content[0] is a string; expected an object with a type"},
		{`{"type":"user","uuid":"u","sessionId":"s1","message":{"content":[{"text":"x"}]}}`, "f:2:66: conversation s1, message 1: message.content[0] has no type; expected text, thinking, tool_use, tool_result, image or document"},
		{`{"type":"user","uuid":"u","sessionId":"s1","message":{"content":[{"type":"tool_use","id":"t","name":"x"}]}}`, "f:2:66: conversation s1, message 1: message.content[0] is a tool_use of the user; expected calls in the assistant's messages"},
		{`{"type":"assistant","uuid":"u","sessionId":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`, "f:2:71: conversation s1, message 1: message.content[0] is a tool_result of the assistant; expected results in the user's messages"},
		{`{"type":"user","uuid":"u","sessionId":"s1","message":{"content":[{"type":"image","source":{"type":"x"}}]}}`, `f:2:91: conversation s1, message 1: message.content[0].source has the type "x"; expected base64, url, file or text`},
		{`{"type":"assistant","uuid":"u","sessionId":"s1","message":{"content":"x","usage":{"input_tokens":"9"}}}`, "f:2:98: conversation s1, message 1: message.usage.input_tokens is a string; expected a number below 1e308"},
		{`{"type":"system","subtype":"compact_boundary","uuid":"u","sessionId":"s1","compactMetadata":{"preTokens":"9"}}`, "f:2:106: conversation s1, message 1: compactMetadata.preTokens is a string; expected a number below 1e308"},
	} {
		all, errs := readAll(hello + "\n" + x.line + "\n" + hi + "\n" + named("b"))
		if len(errs) != 1 || errs[0].Error() != x.want {
			t.Errorf("%s\n gives %v\n want  %s", x.line, errs, x.want)
		}
		if len(all) != 1 || all[0].ID != "b" {
			t.Errorf("%s\n %d conversations are left, want the following one", x.line, len(all))
		}
	}
	_, errs := readAll(hello + "\n" + claude("r1 u1", "s1", "user", `[{"type":"tool_result","tool_use_id":"t"}]`))
	if len(errs) != 1 || errs[0].Error() != `f:2:1: conversation s1, message 1: a result for tool_call_id "t" (name ""), which no message before it calls; expected the call first` {
		t.Errorf("a result without its call gives %v", errs)
	}
	_, errs = readAll(`{"type":"summary","summary":"A title","leafUuid":"x"}`)
	if len(errs) != 1 || errs[0].Error() != "f:1: conversation f:1: no message of a user or an agent; expected at least one" {
		t.Errorf("titles alone give %v", errs)
	}
}

func TestUsageIsReadAsEachProviderCounts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		usage       string
		prompt, out int
	}{
		{`{"prompt_tokens":80,"completion_tokens":2}`, 80, 2},
		{`{"prompt_tokens":80,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens":2}`, 80, 2},
		{`{"prompt_tokens":80,"prompt_tokens_details":{"cached_tokens":6400}}`, 6_480, 0},
		{`{"input_tokens":3,"cache_read_input_tokens":11000,"cache_creation_input_tokens":900,"output_tokens":61}`, 11_903, 61},
		{`{"input_tokens":3,"cache_read_input_tokens":null,"output_tokens":61}`, 3, 61},
		{`{}`, 0, 0},
		{`null`, 0, 0},
	} {
		s := one(t, messages(hello, `{"role":"assistant","content":"hi","usage":`+x.usage+`}`)).Turns[0].Steps[0]
		if s.PromptTokens != x.prompt || s.OutputTokens != x.out {
			t.Errorf("%s is read as %d in and %d out, want %d and %d", x.usage, s.PromptTokens, s.OutputTokens, x.prompt, x.out)
		}
	}
	for usage, want := range map[string]int{
		`{"promptTokenCount":80,"cachedContentTokenCount":64}`:   80,
		`{"promptTokenCount":80,"cachedContentTokenCount":6400}`: 6_480,
	} {
		c := one(t, `{"events":[{"author":"user","content":{"parts":[{"text":"a"}]}},{"author":"bot","content":{"parts":[{"text":"b"}]},"usageMetadata":`+usage+`}]}`)
		if got := c.Turns[0].Steps[0].PromptTokens; got != want {
			t.Errorf("%s is read as %d, want %d", usage, got, want)
		}
	}
}

func TestALocomoFileIsRead(t *testing.T) {
	t.Parallel()
	all := fixture(t, "locomo.json")
	if len(all) != 2 || all[0].ID != "boat" || all[1].ID != "dog" {
		t.Fatalf("%d conversations", len(all))
	}
	c := all[0]
	want := lines(
		"U (start)",
		"A0 (1:56 pm on 8 May, 2025) | Did you name the boat?",
		"U Yes, Petrel. | (shares a picture: a small blue boat) | (9:05 am on 2 June, 2025) | The boat is sold, for 4,200 crowns.",
	)
	if got := told(c); got != want {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
	if when := c.Turns[0].Steps[0].Time; when.Format("2006-01-02 15:04") != "2025-05-08 13:56" {
		t.Errorf("said at %v", when)
	}
	for i, want := range []conversation.Question{
		{ID: "0", Text: "What is the boat called?", Answers: []string{"Petrel"}},
		{ID: "1", Text: "What was it sold for?", Answers: []string{"4200"}},
		{ID: "2", Text: "What is Tom's boat called?", Unanswerable: true},
		{ID: "3", Text: "Where is it moored?"},
		{ID: "4", Answers: []string{"Petrel"}},
	} {
		if got := c.Questions[i]; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("question %d is %+v, want %+v", i, got, want)
		}
	}
	for _, note := range []string{"messages of Ida, read as the user's: 2", "messages of Tom, read as the agent's: 1", "pictures, replaced by their captions: 1"} {
		if !strings.Contains(strings.Join(c.Notes, "\n"), note) {
			t.Errorf("notes %q do not contain %q", c.Notes, note)
		}
	}
	// The same file on one line, and with each conversation on its own line.
	text, err := os.ReadFile(filepath.Join("testdata", "locomo.json"))
	if err != nil {
		t.Fatal(err)
	}
	again := one(t, strings.TrimSuffix(strings.TrimPrefix(strings.Split(string(text), "  {\n    \"sample_id\": \"dog\"")[0], "[\n"), ",\n"))
	if told(again) != want {
		t.Errorf("on one line it becomes\n%s", told(again))
	}
}

func TestABrokenDocumentSaysWhere(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, text, want string }{
		{"a speaker too many", "[\n {\"conversation\": {\"speaker_a\": \"A\", \"speaker_b\": \"B\",\n  \"session_1\": [\n   {\"speaker\": \"C\", \"text\": \"x\"}]}}\n]",
			`f:4:4: conversation f:1[0], message 0: session_1[0] has the speaker "C"; expected A or B`},
		{"no speaker", `{"sample_id":"x","conversation":{"session_1":[{"text":"x"}]}}`, "f:1:47: conversation x, message 0: session_1[0] has no speaker; expected the name of one of the two"},
		{"a message that is none", `{"sample_id":"x","conversation":{"session_1":["x"]}}`, "f:1:47: conversation x, message 0: session_1[0] is a string; expected an object with a speaker and a text"},
		{"a comma too many", "{\n \"conversation\": {\n  \"session_1\": [],\n }\n}", "f:4:2: invalid character '}' looking for beginning of object key string; expected JSON"},
		{"cut off", "{\n \"conversation\": {\n", "f:2:19: unexpected end of JSON input; expected a whole conversation or event on one line (jq -c . makes one line of it)"},
	} {
		if e := refused(t, x.text); e.Error() != x.want {
			t.Errorf("%s gives\n%v\nwant\n%s", x.name, e, x.want)
		}
	}
	all, errs := readAll("{\"messages\": [\n" + named("a") + "\n" + named("b"))
	if len(all) != 2 || len(errs) != 1 {
		t.Errorf("a broken line in front of two: %d conversations, %v", len(all), errs)
	}
	all, errs = readAll("{\n \"messages\": [\n  " + hello + ",\n  " + hi + "\n ]\n}\n" + named("b"))
	if len(all) != 2 || len(errs) != 0 || all[1].Line != 7 {
		t.Errorf("an object over six lines: %d conversations, %v", len(all), errs)
	}
}
