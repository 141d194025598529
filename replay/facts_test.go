package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

func TestAnAnswerMatchesWholeWordsOnly(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		text, answer string
		want         bool
	}{
		{"I'm 35 years old", "35", true},
		{"it took 1350 ms", "35", false},
		{"it took 1350 ms; he is 35.", "35", true},
		{"My name is MICHAEL.", "Michael", true},
		{"Michaela came", "Michael", false},
		{"the  San\nFrancisco office", "San Francisco", true},
		{"我叫张曼婷，住在上海", "张曼婷", true},
		{"costs $5.50!", "$5.50", true},
		{"anything", " ", false},
		{"", "x", false},
	} {
		if got := holds(r.text, r.answer); got != r.want {
			t.Errorf("holds(%q, %q) = %v", r.text, r.answer, got)
		}
	}
}

func TestNewestMessagesFitTheBudget(t *testing.T) {
	t.Parallel()
	p := lastPrompt{texts: []string{"a", "b", "c"}, sizes: []int{5, 3, 2}}
	for budget, want := range map[int][]string{0: nil, 2: {"c"}, 4: {"c"}, 5: {"b", "c"}, 10: {"a", "b", "c"}} {
		if got := p.newest(budget); !slices.Equal(got, want) {
			t.Errorf("newest(%d) = %v, want %v", budget, got, want)
		}
	}
}

func TestFactsAreLookedForInRawMessagesAndSummaries(t *testing.T) {
	t.Parallel()
	ask := func(answers ...string) conversation.Question {
		return conversation.Question{Text: "which?", Answers: answers}
	}
	r := &run{
		c: &conversation.Conversation{Questions: []conversation.Question{
			ask("cat"), ask("dog"), ask("owl"), ask("never said"), ask("hen", "fox"),
			ask(), ask(" "), {Text: " ", Answers: []string{"dog"}},
			{Text: "which?", Answers: []string{"dog"}, Unanswerable: true}, {Unanswerable: true},
		}},
		whole:   &whole{last: lastPrompt{texts: []string{"a cat", "a dog", "an owl", "a fox"}, sizes: []int{2, 2, 2, 2}}},
		last:    lastPrompt{texts: []string{"Summary: cat and fox", "an owl"}, sizes: []int{2, 2}},
		prompts: []int{9, 4},
	}
	asked := 0
	got, unanswered, err := r.facts(func(q conversation.Question) (bool, error) {
		asked++
		return slices.Contains(q.Answers, "dog"), nil
	})
	if err != nil || asked != 1 {
		t.Errorf("%d searches, %v: only the question that is not answered needs one", asked, err)
	}
	if want := (Facts{Questions: 4, Kept: 3, Raw: 1, KeepLast: 2, Recalled: 4, Tokens: 4, Unanswerable: 2, Empty: 3, Unsaid: 1}); *got != want || !slices.Equal(unanswered, []string{"which?"}) {
		t.Errorf("facts %+v, want %+v; unanswered %q", *got, want, unanswered)
	}
	var total Total
	for range 2 {
		total.Add(&Report{Facts: got})
	}
	if got, want := *total.Facts, (Facts{Questions: 8, Kept: 6, Raw: 2, KeepLast: 4, Recalled: 8, Tokens: 8, Unanswerable: 4, Empty: 6, Unsaid: 2}); got != want {
		t.Errorf("total %+v, want %+v", got, want)
	}
}

func TestTextOfAContentIncludesCallsAndResults(t *testing.T) {
	t.Parallel()
	c := called("1")
	c.Parts[0].FunctionCall.Args = map[string]any{"degrees": 4711.0, "sure": true, "b": "bee", "a": "ant", "list": []any{"x", nil}}
	for range 20 {
		if got, want := textOf(c), "\nant\nbee\n4711\nx\ntrue\n"; got != want {
			t.Fatalf("text %q, want %q", got, want)
		}
	}
}

// A question whose answer only a summary stands for is answered by one search in the session that was played.
func TestOneRecallAnswersWhatThePromptDoesNot(t *testing.T) {
	t.Parallel()
	c := &conversation.Conversation{ID: "recalled", Questions: []conversation.Question{{Text: "What is the passport number?", Answers: []string{"X4829917"}}}}
	say := func(user, agent string) {
		c.Turns = append(c.Turns, conversation.Turn{
			User:  genai.NewContentFromText(user, genai.RoleUser),
			Steps: []conversation.Step{{Answer: genai.NewContentFromText(agent, genai.RoleModel)}},
		})
	}
	say("My passport number is X4829917.", "Noted.")
	for i := range 30 {
		say(fmt.Sprintf("What about item %d? %s", i, strings.Repeat("It is for the shop in the harbor. ", 10)), "It is in stock.")
	}
	compacts := Policy{Name: "compacts", Config: compaction.Config{
		Summarizer: &compactiontest.Oracle{}, ContextWindow: 32_000, Synchronous: true, MaxLedgerTokens: compaction.Off, InvocationThreshold: 5,
	}}
	for _, tt := range []struct {
		policy         Policy
		kept, recalled int
	}{{compacts, 0, 1}, {Policy{Name: "never", When: Never, Config: compacts.Config}, 1, 1}} {
		report, err := Play(t.Context(), c, tt.policy, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f := report.Facts; f == nil || f.Questions != 1 || f.Kept != tt.kept || f.Recalled != tt.recalled {
			t.Errorf("%s: %+v, want %d kept and %d with one recall", tt.policy.Name, f, tt.kept, tt.recalled)
		}
	}
}
