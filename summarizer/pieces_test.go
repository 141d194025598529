package summarizer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// numbered is a text of so many words that all differ.
func numbered(from, words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "word%d ", from+i)
	}
	return b.String()
}

// noting returns a model whose answers are numbered.
func noting(calls int) *scripted {
	var answers [][]*model.LLMResponse
	for i := range calls {
		answers = append(answers, only(says(fmt.Sprintf("Note %d: the agent searched the catalog again and found a train to Porto at 8:15.", i+1))))
	}
	return answering(answers...)
}

// transcriptIn returns the transcript of a prompt.
func transcriptIn(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "===== TRANSCRIPT =====\n")
	text, _, _ := strings.Cut(rest, "\n===== END OF THE RECORD =====")
	return text
}

func TestWhatDoesNotFitIntoOneCallIsReadInPieces(t *testing.T) {
	t.Parallel()
	const limit = 1000
	var req summarizer.Request
	for i := range 4 {
		id := fmt.Sprint("c", i)
		req.Events = append(req.Events, call(id, "read", nil), response(id, "read", map[string]any{"text": numbered(1000*i, 120)}))
	}
	req.Summaries = []string{"Earlier, the agent looked for hotels."}
	m := noting(8)
	result, err := newLLM(t, summarizer.LLMConfig{Model: m, MaxInputTokens: limit}).Summarize(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	calls := m.calls()
	if calls < 2 || calls > 4 {
		t.Fatalf("%d calls", calls)
	}
	var all strings.Builder
	for i := range calls {
		prompt := m.prompt(i)
		if part := transcriptIn(prompt); tokens.Estimate(part) > limit || strings.Contains(part, "more characters") {
			t.Errorf("piece %d has %d tokens, or is cut:\n%s", i+1, tokens.Estimate(part), part)
		}
		all.WriteString(transcriptIn(prompt) + "\n")
		if want := fmt.Sprintf("This is piece %d of %d", i+1, calls); !strings.Contains(prompt, want) {
			t.Errorf("the prompt of piece %d does not say %q", i+1, want)
		}
		if i > 0 != strings.Contains(prompt, fmt.Sprintf("> Note %d: ", i)) || i == 0 != strings.Contains(prompt, "looked for hotels") {
			t.Errorf("piece %d is not read with the notes so far alone:\n%s", i+1, prompt)
		}
	}
	if want := transcript(t, req.Events...) + "\n"; all.String() != want {
		t.Errorf("the pieces are not the transcript:\n%s\nwant\n%s", all.String(), want)
	}
	if text := result.Content.Parts[0].Text; !strings.HasPrefix(text, fmt.Sprintf("Note %d: ", calls)) {
		t.Errorf("the summary is %q", text)
	}
	if result.Usage.PromptTokens != 100*calls || result.Usage.OutputTokens != 10*calls {
		t.Errorf("%d calls used %+v", calls, result.Usage)
	}
}

func TestWhatFitsIntoOneCallIsReadInOne(t *testing.T) {
	t.Parallel()
	m := noting(2)
	if _, err := newLLM(t, summarizer.LLMConfig{Model: m}).Summarize(t.Context(), window()); err != nil || m.calls() != 1 || strings.Contains(m.prompt(0), "piece") {
		t.Errorf("%v after %d calls", err, m.calls())
	}
}

func TestAValueThatNoPieceHoldsIsSplit(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 11))
	for range 50 {
		limit := 300 + rnd.IntN(500)
		value := numbered(0, 50+rnd.IntN(400)) + strings.Repeat("日本語", rnd.IntN(50)) + strings.Repeat("\n", rnd.IntN(30)) + "the end"
		req := summarizer.Request{Events: events(user("Please read the file."), user(value), user("Thank you."))}
		m := noting(20)
		if _, err := newLLM(t, summarizer.LLMConfig{Model: m, MaxInputTokens: limit, MaxPieces: 20}).Summarize(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for i := range m.calls() {
			part := transcriptIn(m.prompt(i))
			if n := tokens.Estimate(part); n > limit {
				t.Errorf("a piece has %d tokens, the limit is %d", n, limit)
			}
			for line := range strings.SplitSeq(part, "\n") {
				got.WriteString(line[strings.Index(line, ": ")+2:])
			}
		}
		escaped := strings.ReplaceAll("Please read the file."+value+"Thank you.", "\n", `\n`)
		if got.String() != escaped {
			t.Errorf("limit %d: the pieces say\n%s\nwant\n%s", limit, got.String(), escaped)
		}
	}
}

func TestAWindowOfTooManyPiecesIsCut(t *testing.T) {
	t.Parallel()
	req := summarizer.Request{Events: events(user(numbered(0, 2000)), user("Thank you."), user(numbered(5000, 100)))}
	for _, most := range []int{1, 2, 3} {
		m := noting(9)
		if _, err := newLLM(t, summarizer.LLMConfig{Model: m, MaxInputTokens: 800, MaxPieces: most}).Summarize(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if m.calls() != 1 || !strings.Contains(m.prompt(0), "more characters") || strings.Contains(m.prompt(0), "This is piece") {
			t.Errorf("at most %d pieces: %d calls", most, m.calls())
		}
	}
}

func TestAPieceThatCannotBeReadFailsTheSummary(t *testing.T) {
	t.Parallel()
	req := summarizer.Request{Events: events(user(numbered(0, 200)), user(numbered(500, 200)), user(numbered(900, 200)))}
	good := only(says("The agent searched the catalog again and found a train to Porto at 8:15."))
	m := answering(good, only(says("I cannot help with that.")), good)
	result, err := newLLM(t, summarizer.LLMConfig{Model: m, MaxInputTokens: 800}).Summarize(t.Context(), req)
	if !errors.Is(err, summarizer.ErrUnusable) || result.Content != nil || m.calls() != 2 || result.Usage.PromptTokens != 200 {
		t.Errorf("%+v, %v after %d calls", result, err, m.calls())
	}
}
