package chat_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Each command shows what it is for, in a session that a few turns have filled.
func TestCommandsShowTheSession(t *testing.T) {
	t.Parallel()
	talk := ""
	for i := range 7 {
		talk += fmt.Sprintf("Message %d: remember order A-10%d. %s\n", i, i, strings.Repeat("and so on ", 40))
	}
	for line, want := range map[string][]string{
		"/help":                            {"/compact [focus]", "/history [n]"},
		"/compact the orders":              {"Context compacted: ", "Everything stays readable in the session.\n"},
		"/summarize":                       {"Context compacted: "},
		"/done all is said":                {"Checkpoint written: ", "Everything stays readable in the session.\n"},
		"/context":                         {"Context-management activity:\n  Compactions:  "},
		"/boundaries":                      {"Context-management activity:\n  Compactions:  "},
		"/tokens":                          {"📊 Context Usage:\n   Tokens: ", "\n   Latest turn: Turn 7 | Input: "},
		"/stats":                           {"Turn 7 | Input: ", "Session:        8 model calls (", " + unpriced)\n", "\n  Models:       gemini-2.5-flash (7 turns, ", "\n              + oracle (1 turns, "},
		"/compaction-status":               {"Stored: ", "Prompt: "},
		"/guard":                           {"Session: $", "8 model calls", "; no limit is set\n", "No limit is reached.\n"},
		"/tools":                           {"read_result"},
		"/sessions":                        {"* 2", "  talk\n"},
		"/history 2":                       {"user: Message 6: "},
		"/recall order A-103":              {"> [turn 4, ", "remember order A-103"},
		"/recall zebra":                    {"Nothing was found.\n"},
		"/new":                             {"Session chat-2"},
		"/resume-after-cost-ceiling +2.50": {"The session goes on: added $2.50"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			if err := run(t, config(t, talk+line+"\n", &out, &errs)); err != nil {
				t.Fatal(err)
			}
			_, shown, _ := strings.Cut(out.String(), "You said: Message 6")
			for _, part := range want {
				if !strings.Contains(shown, part) {
					t.Errorf("%q is missing in:\n%s\nerr:\n%s", part, shown, errs.String())
				}
			}
		})
	}
}

// A command that cannot be run ends a pipe with an error that says what to do.
func TestACommandThatFailsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/compcat":                        "did you mean /compact?",
		"/con":                            "did you mean /context?",
		"/zzzzzz":                         "/help lists them",
		"/result":                         "/result REF",
		"/result x":                       `no result "x"`,
		"/recall":                         "such as /recall",
		"/resume":                         "no other session",
		"/resume x":                       "/sessions lists them",
		"/history x":                      "/history 20",
		"/resume-after-cost-ceiling lots": "+2.50",
	} {
		var out, errs bytes.Buffer
		if err := run(t, config(t, line+"\n", &out, &errs)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", line, err, want)
		}
	}
}
