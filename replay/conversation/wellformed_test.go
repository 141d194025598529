package conversation_test

import (
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// wellFormed checks the promises that every conversation keeps.
func wellFormed(t testing.TB, c *conversation.Conversation) {
	t.Helper()
	if len(c.Turns) == 0 || c.ID == "" {
		t.Errorf("conversation %q has %d turns", c.ID, len(c.Turns))
	}
	ids, last, answers := map[string]bool{}, -1, 0
	for i, turn := range c.Turns {
		answers += len(turn.Steps)
		if turn.User == nil || turn.User.Role != genai.RoleUser || len(turn.User.Parts) == 0 {
			t.Errorf("turn %d: the user's message is %+v", i, turn.User)
			continue
		}
		for _, p := range turn.User.Parts {
			if p == nil || p.FunctionCall != nil || p.FunctionResponse != nil {
				t.Errorf("turn %d: the user's message has the part %+v", i, p)
			}
		}
		for j, s := range turn.Steps {
			if s.Message <= last {
				t.Errorf("turn %d, step %d is message %d, after message %d", i, j, s.Message, last)
			}
			last = s.Message
			calls := checkAnswer(t, s, ids)
			if calls == 0 && j < len(turn.Steps)-1 {
				t.Errorf("turn %d continues after step %d, which has no call", i, j)
			}
			if s.PromptTokens < 0 || s.OutputTokens < 0 {
				t.Errorf("turn %d, step %d has %d and %d tokens", i, j, s.PromptTokens, s.OutputTokens)
			}
		}
		if len(turn.Steps) == 0 && answers > 0 && i < len(c.Turns)-1 {
			t.Errorf("turn %d has no answer, but is not the last", i)
		}
	}
	for i, x := range c.Compactions {
		if x.Turn < 0 || x.Turn >= len(c.Turns) || x.Step < 0 || x.Step >= len(c.Turns[x.Turn].Steps) {
			t.Errorf("compaction %d is before step %d of turn %d, which does not exist", i, x.Step, x.Turn)
		}
	}
}

// checkAnswer checks one answer and returns its number of calls.
func checkAnswer(t testing.TB, s conversation.Step, ids map[string]bool) int {
	t.Helper()
	if s.Answer == nil || s.Answer.Role != genai.RoleModel || len(s.Answer.Parts) == 0 {
		t.Errorf("message %d has the answer %+v", s.Message, s.Answer)
		return 0
	}
	var calls []*genai.FunctionCall
	for _, p := range s.Answer.Parts {
		switch {
		case p == nil || p.FunctionResponse != nil:
			t.Errorf("message %d: the answer has the part %+v", s.Message, p)
		case p.FunctionCall != nil:
			calls = append(calls, p.FunctionCall)
		}
	}
	if len(calls) != len(s.Responses) {
		t.Errorf("message %d has %d calls and %d responses", s.Message, len(calls), len(s.Responses))
		return len(calls)
	}
	for i, call := range calls {
		r := s.Responses[i]
		if call.ID == "" || ids[call.ID] || call.Name == "" || call.Args == nil {
			t.Errorf("message %d: call %+v needs a new ID, a name and arguments", s.Message, call)
		}
		ids[call.ID] = true
		if r.ID != call.ID || r.Name != call.Name || r.Response == nil {
			t.Errorf("message %d: call %+v has the response %+v", s.Message, call, r)
		}
	}
	return len(calls)
}
