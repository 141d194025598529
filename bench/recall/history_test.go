package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// recordings is the folder with the recorded conversations.
func recordings(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("LONGSESSION_DATA")
	if dir == "" {
		t.Skip("LONGSESSION_DATA names no folder with recorded conversations")
	}
	return dir
}

func TestRecordingsAreReadWithTheirQuestions(t *testing.T) {
	t.Parallel()
	all, err := readSets(recordings(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		set                                     set
		histories, messages, questions, literal int
	}{{all.scenarios, 3, 191, 80, 74}, {all.chats, 6, 520, 42, 39}, {all.joined, 1, 711, 122, 113}} {
		messages, questions := 0, 0
		for _, h := range tt.set.histories {
			messages, questions = messages+len(h.messages), questions+len(h.questions)
			if !slices.IsSortedFunc(h.messages, func(a, b message) int { return a.time.Compare(b.time) }) {
				t.Errorf("%s: the times go back", h.name)
			}
			for _, q := range h.questions {
				if !answeredIn(h, q) {
					t.Errorf("%s, question %s: no message of %v has an accepted answer", h.name, q.name, q.evidence)
				}
			}
		}
		if len(tt.set.histories) != tt.histories || messages != tt.messages || questions != tt.questions || tt.set.literal() != tt.literal {
			t.Errorf("%s: %d histories, %d messages, %d questions, %d with a literal answer; want %+v", tt.set.name, len(tt.set.histories), messages, questions, tt.set.literal(), tt)
		}
	}
}

// answeredIn reports whether a message of the evidence has an accepted answer, if the question has one. The evidence of
// a scenario is a sentence, and some answers are in another message, so only messages that exist are asked for there.
func answeredIn(h *history, q question) bool {
	if len(q.accepted) == 0 {
		return len(q.evidence) > 0
	}
	return slices.ContainsFunc(h.messages, func(m message) bool { return holdsAny(m.text, q.accepted) }) &&
		!slices.ContainsFunc(q.evidence, func(e int) bool { return e < 0 || e >= len(h.messages) })
}

func TestLabelsHaveNumbersOnly(t *testing.T) {
	t.Parallel()
	labels, err := readLabels(labelFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(labels) != 42 {
		t.Errorf("%d labels, want 42", len(labels))
	}
	for i, l := range labels {
		if l.chat != 1+i/7 || l.question != 1+i%7 || len(l.evidence) == 0 {
			t.Errorf("label %d: %+v", i, l)
		}
		for _, s := range l.answers {
			if !slices.Contains(l.evidence, s.message) {
				t.Errorf("%d.%d: the answer is in message %d, which is no evidence", l.chat, l.question, s.message)
			}
		}
	}
	for line := range strings.Lines(labelFile) {
		if !strings.HasPrefix(line, "#") && strings.Trim(line, "0123456789.+:- \n") != "" {
			t.Errorf("a label has more than numbers: %q", line)
		}
	}
}

func TestBrokenLabelsAreRefused(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"1.1", "x 1 -", "1.1 x -", "1.1 1 2:3", "1.1 1"} {
		if _, err := readLabels("# a comment\n" + line); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: error %v", line, err)
		}
	}
	messages := []message{{text: "你好"}}
	for _, s := range []span{{1, 0, 1}, {0, 0, 3}, {0, 1, 1}, {0, -1, 1}} {
		if words, err := s.in(messages); err == nil {
			t.Errorf("%+v: %q", s, words)
		}
	}
	if words, err := (span{0, 1, 2}).in(messages); err != nil || words != "好" {
		t.Errorf("%q, %v", words, err)
	}
}

func TestAnswersAreWholeWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, answer string
		want         bool
	}{
		{"It cost 1350 euros.", "35", false},
		{"It cost 1350 and 35 euros.", "35", true},
		{"Losartan  50\nMG daily", "losartan 50 mg", true},
		{"我去看了周杰伦的演唱会", "周杰伦", true},
		{"anything", "", false},
		{"the pitchers", "pitcher", false},
	} {
		if got := holds(tt.text, tt.answer); got != tt.want {
			t.Errorf("%q in %q: %v", tt.answer, tt.text, got)
		}
	}
}

func TestJoinedHistoriesKeepTheirDaysAndMoveTheirEvidence(t *testing.T) {
	t.Parallel()
	first := &history{messages: []message{{true, "a", day(2023, time.May, 6)}}, questions: []question{{name: "1.1", evidence: []int{0}}}}
	second := &history{messages: []message{{true, "b", day(2023, time.May, 4)}, {false, "c", day(2023, time.May, 5)}}, questions: []question{{name: "2.1", evidence: []int{0, 1}}}}
	all := join([]*history{first, second})
	if len(all.messages) != 3 || !all.messages[1].time.Equal(day(2024, time.May, 4)) || !slices.Equal(all.questions[1].evidence, []int{1, 2}) || all.questions[1].name != "2:2.1" {
		t.Errorf("%+v", all)
	}
	if !slices.Equal(second.questions[0].evidence, []int{0, 1}) || !second.messages[0].time.Equal(day(2023, time.May, 4)) {
		t.Errorf("the history itself was changed: %+v", second)
	}
}

func TestASourceIsFoundInParts(t *testing.T) {
	t.Parallel()
	messages := []message{{text: "I said: “Hello there, friend!”"}, {text: "And it was marked as shipped."}, {text: "Something else."}}
	for quoted, want := range map[string][]int{
		"...hello there friend...":       {0},
		"hello there… Marked as shipped": {0, 1},
		"never said":                     nil,
	} {
		if got := sources(messages, quoted); !slices.Equal(got, want) {
			t.Errorf("%q: messages %v, want %v", quoted, got, want)
		}
	}
}

func TestRanksCountTheShareOfTheEvidence(t *testing.T) {
	t.Parallel()
	var r, o ranks
	r.add(question{name: "1", evidence: []int{7, 9}}, []int{7, 1, 2, 3, 4, 9})
	r.add(question{name: "2", evidence: []int{3}}, []int{1, 3})
	o.add(question{name: "1", evidence: []int{7, 9}}, []int{7, 1, 2, 3, 4, 8})
	o.add(question{name: "2", evidence: []int{3}}, []int{3, 1})
	if r.at(0) != 25 || r.at(1) != 75 || r.at(2) != 100 || !slices.Equal(r.missed, []string{"1"}) {
		t.Errorf("%+v", r)
	}
	if got := r.sameFirst(o); got != 50 {
		t.Errorf("the same first five for %v%%, want 50", got)
	}
}

// contextguard's transcript must reach the writer whole, or the comparison is unfair.
func TestTheGuardsTranscriptIsReadWhole(t *testing.T) {
	t.Parallel()
	text := "Provide a detailed summary.\n\n[Previous summary for context]\nEarlier: a cat.\n[End previous summary]\n\n[Conversation to summarize]\n" +
		"user: One.\nof two lines\nmodel: Two.\n[End of conversation]\n"
	got := transcript(&model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}})
	if len(got.Events) != 2 || len(got.Summaries) != 1 || got.Summaries[0] != "Earlier: a cat." || got.MaxTokens != guardTokens {
		t.Fatalf("%+v", got)
	}
	if one, two := got.Events[0], got.Events[1]; one.Author != "user" || one.Content.Parts[0].Text != "One.\nof two lines\n" || two.Author != "agent" {
		t.Errorf("%q by %s, %q by %s", one.Content.Parts[0].Text, one.Author, two.Content.Parts[0].Text, two.Author)
	}
}

// coder is a conversation in which the agent reads a file, and later names it again.
func coder() *conversation.Conversation {
	call := func(id, path string) conversation.Step {
		return conversation.Step{
			Answer:    genai.NewContentFromParts([]*genai.Part{{FunctionCall: &genai.FunctionCall{ID: id, Name: "read", Args: map[string]any{"file_path": path}}}}, genai.RoleModel),
			Responses: []*genai.FunctionResponse{{ID: id, Name: "read", Response: map[string]any{"output": strings.Repeat("func visit() error { return nil }\n", 20)}}},
		}
	}
	c := &conversation.Conversation{ID: "coder"}
	for turn := range 30 {
		t := conversation.Turn{User: genai.NewContentFromText("Go on with the next thing, please, and look at everything.", genai.RoleUser)}
		switch turn {
		case 0, 29:
			t.Steps = append(t.Steps, call("call", "/src/app/first.go"))
		case 1:
			t.Steps = append(t.Steps, call("other", "/src/app/second.go"))
		}
		t.Steps = append(t.Steps, conversation.Step{Answer: genai.NewContentFromText("That is done. I have looked at everything that there is to see.", genai.RoleModel)})
		c.Turns = append(c.Turns, t)
	}
	return c
}

func TestFilesNamedAgainAreCountedOnce(t *testing.T) {
	t.Parallel()
	for _, way := range codingWays(8_000) {
		got, err := filesNamed(t.Context(), []*conversation.Conversation{coder()}, way)
		if err != nil {
			t.Fatal(err)
		}
		if got.again != 1 || got.behind != 1 && strings.HasPrefix(way.name, "longsession") || got.calls != 33 || got.prompt == 0 {
			t.Errorf("%s: %+v", way.name, got)
		}
	}
	answer := genai.NewContentFromParts([]*genai.Part{{FunctionCall: &genai.FunctionCall{Name: "bash", Args: map[string]any{"command": "cat ./a/b.go a/c.test.ts ./a/b.go; ls x/y z.go"}}}}, genai.RoleModel)
	if got := named(answer); !slices.Equal(got, []string{"./a/b.go", "a/c.test.ts"}) {
		t.Errorf("%q", got)
	}
}
